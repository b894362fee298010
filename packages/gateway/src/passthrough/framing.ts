import { ServiceError } from '@sallyport/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isInCircle } from './headers.ts';

/** RFC 9110 7.2: a host and a port. What is neither would be read in two ways further on. */
const host = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * Refuses what proxies and servers are known to read in two ways, as the last request of its connection: nobody can be sure
 * where it ends. And what came through here before.
 */
export function checkFraming(request: IncomingMessage, response: ServerResponse): void {
  const ambiguity = ambiguityOf(request);
  if (ambiguity !== undefined) {
    response.shouldKeepAlive = false;
    throw new ServiceError('invalid_request', ambiguity);
  }
  if (isInCircle(request.headers))
    throw new ServiceError(
      'upstream_unreachable',
      'The request goes in a circle: an upstream of this gateway leads back to it.',
    );
}

function ambiguityOf({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return 'The only versions of HTTP here are 1.1 and 1.0.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return 'The only transfer encoding is chunked.';
  // RFC 9112 6.1: whoever of that age stands between has passed it over.
  if (coding !== undefined && httpVersion === '1.0') return 'HTTP/1.0 has no transfer encodings.';
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1) return 'There is more than one Host header.';
  if (!host.test(headers.host ?? '')) return 'The Host header must be a host, or a host and a port.';
  return undefined;
}

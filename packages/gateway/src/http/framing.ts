import type { IncomingMessage } from 'node:http';

/** RFC 9110 7.2: a host and a port. What is neither would be read in two ways further on. */
const host = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;
/** RFC 9112 3.2.2: the authority of a target in absolute form. */
const absolute = /^[a-z][\w+.-]*:\/\/(?:[^/?#]*@)?([^/?#]*)/i;

/**
 * Why proxies and servers are known to read the request in two ways, where they are: nobody can be sure what it asks for, or
 * where it ends, so it must be refused and be the last of its connection. What else could be is not HTTP for Node's parser.
 */
export function ambiguityOf(request: IncomingMessage): string | undefined {
  const { headers, rawHeaders, httpVersion, url = '/' } = request;
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
  if (hosts === 0 && httpVersion === '1.1') return 'The Host header is missing.';
  const named = headers.host ?? '';
  if (!host.test(named)) return 'The Host header must be a host, or a host and a port.';
  if (url.startsWith('/')) return undefined;
  const [, authority] = absolute.exec(url) ?? [];
  if (authority !== undefined && authority.toLowerCase() !== named.toLowerCase())
    return 'The address that is asked for has another host than the Host header.';
  return undefined;
}

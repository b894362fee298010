import { Readable } from 'node:stream';
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { readText } from './body.ts';
import { transportFailure } from './failure.ts';
import { environmentProxy } from './proxy.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export interface UndiciTransportOptions {
  /** Connections per origin. Default 64. */
  readonly connections?: number;
  /** Milliseconds for DNS, TCP and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Certificates, in PEM form, of all the authorities that are trusted. Default: those of Node.js. */
  readonly ca?: readonly string[];
  /** Honour `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Default true. */
  readonly proxyFromEnvironment?: boolean;
}

/** The transport of Node.js programs: pooled connections, its time-outs per request, streaming both ways. */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  const { connections = 64, connectTimeoutMs = 10_000, ca, proxyFromEnvironment = true } = options;
  const pool = { connections, connect: { timeout: connectTimeoutMs, ...(ca && { ca: [...ca] }) } };
  const agent: Dispatcher = proxyFromEnvironment ? new EnvHttpProxyAgent(pool) : new Agent(pool);
  return {
    async send(request) {
      try {
        const { origin, pathname, search } = new URL(request.url);
        const answer = await agent.request({
          origin,
          path: pathname + search,
          method: request.method,
          headers: { ...request.headers },
          body: typeof request.body === 'function' ? Readable.from(request.body()) : (request.body ?? null),
          headersTimeout: request.timeoutMs,
          bodyTimeout: request.idleMs ?? request.timeoutMs,
          ...(request.signal && { signal: request.signal }),
        });
        return toResponse(answer, request);
      } catch (error) {
        throw transportFailure(error, request.url, request.signal);
      }
    },
    proxyFor: (url) => (proxyFromEnvironment ? environmentProxy(url) : undefined),
    close: () => agent.destroy(),
  };
}

function toResponse(answer: Dispatcher.ResponseData, { url, signal }: TransportRequest): TransportResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  async function* stream(): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of answer.body) yield chunk as Uint8Array;
    } catch (error) {
      throw transportFailure(error, url, signal);
    }
  }
  return { status: answer.statusCode, headers, stream, text: (maxBytes) => readText(stream(), maxBytes) };
}

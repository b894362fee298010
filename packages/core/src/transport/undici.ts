import { Readable } from 'node:stream';
import { Agent, EnvHttpProxyAgent } from 'undici';
import { Exchange } from './exchange.ts';
import { environmentProxy, hasEnvironmentProxy } from './proxy.ts';
import type { Transport } from './transport.ts';

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
  const agent = proxyFromEnvironment && hasEnvironmentProxy() ? new EnvHttpProxyAgent(pool) : new Agent(pool);
  return {
    async send(request) {
      const { method, timeoutMs, idleMs = timeoutMs } = request;
      const exchange = new Exchange(request);
      return exchange.answer((handler) => {
        const { origin, pathname, search } = new URL(request.url);
        const body = typeof request.body === 'function' ? Readable.from(request.body()) : request.body;
        const path = pathname + search;
        const { headers } = request;
        const timeouts = { headersTimeout: timeoutMs, bodyTimeout: idleMs };
        agent.dispatch({ origin, path, method, headers, body: body ?? null, ...timeouts }, handler);
      });
    },
    proxyFor: (url) => (proxyFromEnvironment ? environmentProxy(url) : undefined),
    close: () => agent.destroy(),
  };
}

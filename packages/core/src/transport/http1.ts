import { systemClock } from '../clock.ts';
import { Exchange } from './exchange.ts';
import { Http1Client } from './http1/client.ts';
import { outgoing } from './outgoing.ts';
import { hasEnvironmentProxy } from './proxy.ts';
import type { TransportOptions, Transport } from './transport.ts';
import { undiciTransport } from './undici.ts';

/** What of a request's or an answer's stream may wait. */
const waitingBytes = 64 * 1024;

/**
 * For programs that send very many requests: HTTP/1.1 by the client of the gateway's pass-through, which takes half the CPU
 * time of undici's. Where the environment names a proxy it is undici's after all.
 */
export function http1Transport(options: TransportOptions = {}): Transport {
  const { connections = 64, connectTimeoutMs: timeoutMs = 10_000, ca, proxyFromEnvironment = true } = options;
  if (proxyFromEnvironment && hasEnvironmentProxy()) return undiciTransport(options);
  const clients = new Map<string, Http1Client>();
  function clientOf(origin: string): Http1Client {
    let client = clients.get(origin);
    if (!client) {
      client = new Http1Client(origin, { connections, timeoutMs, ca, waitingBytes, clock: systemClock });
      clients.set(origin, client);
    }
    return client;
  }
  let isClosed = false;
  return {
    send(request) {
      return new Exchange(request, () => isClosed).answer((handler) => {
        const url = new URL(request.url);
        return clientOf(url.origin).dispatch(outgoing(request, url), handler);
      });
    },
    ...(ca && { ca }),
    async close() {
      isClosed = true;
      await Promise.all(Array.from(clients.values(), (client) => client.close()));
    },
  };
}

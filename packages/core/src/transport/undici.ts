import { Agent, EnvHttpProxyAgent } from 'undici';
import { Exchange } from './exchange.ts';
import { outgoing } from './outgoing.ts';
import { dispatchOver } from './over-undici.ts';
import { environmentProxy, hasEnvironmentProxy } from './proxy.ts';
import type { TransportOptions, Transport } from './transport.ts';

/** Over undici's connections, which go through the proxies of the environment. */
export function undiciTransport(options: TransportOptions = {}): Transport {
  const { connections = 64, connectTimeoutMs = 10_000, ca, proxyFromEnvironment = true } = options;
  const trust = ca && { ca: [...ca] };
  const pool = { connections, connect: { timeout: connectTimeoutMs, ...trust } };
  const agent =
    proxyFromEnvironment && hasEnvironmentProxy()
      ? new EnvHttpProxyAgent({ ...pool, ...(trust && { requestTls: trust, proxyTls: trust }) })
      : new Agent(pool);
  let isClosed = false;
  return {
    send(request) {
      return new Exchange(request, () => isClosed).answer((handler) => {
        const url = new URL(request.url);
        return dispatchOver(agent, url.origin)(outgoing(request, url), handler);
      });
    },
    proxyFor: (url) => (proxyFromEnvironment ? environmentProxy(url) : undefined),
    ...trust,
    close() {
      isClosed = true;
      return agent.destroy();
    },
  };
}

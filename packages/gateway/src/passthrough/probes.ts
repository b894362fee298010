import { lookup } from 'node:dns/promises';
import { inDialect } from '@sallyport/core';
import { contract, headerNames } from '@sallyport/core/contract';
import { accessProbe } from './access-probe.ts';
import type { Probe, ProbeOptions } from './probe.ts';
import { asking, redirectedTo, upgrading, type Ask } from './probe-transport.ts';

/** From the name to the credential: each makes sense only where those before it went well. */
export function probesOf(options: ProbeOptions): readonly Probe[] {
  const { upstream, connectSeconds, dialect, rule, names } = options;
  const { url } = upstream;
  const servesOAuth = names.includes('oauth');
  const { hostname, origin, pathname } = new URL(url);
  const base = pathname === '/' ? '' : pathname;
  const ask: Ask = (path, more = {}) =>
    asking({ ...upstream, connectSeconds }, (dispatcher) =>
      dispatcher.request({ origin, path: base + path, method: 'GET', ...more }),
    );
  const probes: Probe[] = [
    {
      name: 'name',
      async run() {
        const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(
          (cause: unknown) => {
            throw new Error(`${hostname} has no address: correct the address, or the name server`, { cause });
          },
        );
        return found.map(({ address }) => address).join(', ');
      },
    },
    {
      name: 'answer',
      async run() {
        const { status, isHttp2, headers } = await ask('/', { method: 'HEAD' });
        const secure = url.startsWith('https:') ? ' over TLS' : '';
        const version = isHttp2 ? ', in HTTP/2' : ', in HTTP/1.1: it does not offer HTTP/2';
        const elsewhere = redirectedTo(headers, url);
        const away =
          elsewhere === undefined ? '' : `; sends on to ${elsewhere}, which callers have to follow`;
        return `HTTP ${status}${secure}${upstream.http2 ? version : ''}${away}`;
      },
    },
  ];
  if (servesOAuth)
    probes.push({
      name: 'discovery',
      async run() {
        const { status, body } = await ask(contract.oauth.discovery.path);
        const issuer = issuerOf(body);
        if (status === 200 && issuer !== undefined) return `issuer ${issuer}`;
        throw new Error(
          `${url} has no OAuth metadata (${status}): set areas.oauth and areas.devices to local, or correct the address`,
        );
      },
    });
  if (!servesOAuth || rule.kind !== 'forward') probes.push(accessProbe(options, ask));
  if (names.includes('worker'))
    probes.push({
      name: 'WebSocket',
      async run() {
        const path = inDialect(contract.worker.stream.path, dialect).replace(/\{\w+\}/g, 'doctor');
        const { status, headers } = await asking(
          { ...upstream, connectSeconds, http2: false },
          (dispatcher) =>
            upgrading(dispatcher, {
              origin,
              path: base + path,
              version: inDialect(headerNames.version, dialect),
            }),
        );
        if (status === 101 || headers['sec-websocket-version'] !== undefined) return 'upgrades come through';
        if (status >= 400 && status < 500) return `is refused in HTTP (${status}), as anyone unknown may be`;
        throw new Error(
          `${url} answers an upgrade with ${status}: have what stands before it pass on Upgrade and Connection`,
        );
      },
    });
  return probes;
}

function issuerOf(body: string): string | undefined {
  try {
    const { issuer } = JSON.parse(body) as { issuer?: unknown };
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}

import { lookup } from 'node:dns/promises';
import { inDialect, type Dialect } from '@sallyport/core';
import { contract, families, headerNames, workerVersion } from '@sallyport/core/contract';
import { Agent, type Dispatcher } from 'undici';
import type { CredentialRule } from '../config/destinations.ts';
import type { Config } from '../config/schema.ts';
import { authoritiesOf } from './authorities.ts';

/** What is asked of one upstream. */
export interface ProbeOptions {
  readonly url: string;
  readonly upstream: Pick<Config['upstream'], 'ca' | 'http2' | 'connectSeconds'>;
  readonly dialect: Dialect;
  /** The credential that goes along in place of the callers'. */
  readonly rule: CredentialRule;
  /** The token of the gateway's own login, where the rule is that. */
  readonly token: () => Promise<string>;
  readonly servesOAuth: boolean;
  readonly servesSockets: boolean;
}

/** One question to an upstream: says what was found, or throws what is wrong and what to do. */
export interface Probe {
  readonly name: string;
  readonly run: () => Promise<string>;
}

/** From the name to the credential: each makes sense only where those before it went well. */
export function probesOf(options: ProbeOptions): readonly Probe[] {
  const { url, upstream, dialect, rule, servesOAuth, servesSockets } = options;
  const { hostname, origin, pathname } = new URL(url);
  const base = pathname === '/' ? '' : pathname;
  const ask = (path: string, more: Partial<Dispatcher.RequestOptions> = {}) =>
    asking(upstream, (dispatcher) =>
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
        const { status } = await ask('/', { method: 'HEAD' });
        return `HTTP ${status}${url.startsWith('https:') ? ' over TLS' : ''}`;
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
  if (rule.kind === 'replace' || rule.kind === 'login')
    probes.push({
      name: 'credential',
      async run() {
        const value = rule.kind === 'login' ? await options.token() : rule.value;
        const header = rule.kind === 'login' ? 'authorization' : rule.header;
        const { status } = await ask(inDialect(families[0].prefix, dialect), {
          headers: { [header]: header === 'authorization' ? `Bearer ${value}` : value },
        });
        if (status !== 401 && status !== 403) return `is not refused (${status})`;
        throw new Error(
          rule.kind === 'login'
            ? `${url} refuses the gateway's own login (${status}): run \`sallyport-gateway admin upstream login\``
            : `${url} refuses the credential (${status}): set upstream.credential to one that it knows`,
        );
      },
    });
  if (servesSockets)
    probes.push({
      name: 'WebSocket',
      async run() {
        const path = inDialect(contract.worker.stream.path, dialect).replace(/\{\w+\}/g, 'doctor');
        const { status, headers } = await asking({ ...upstream, http2: false }, (dispatcher) =>
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

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const patienceMs = 5_000;

async function asking(
  { ca, http2, connectSeconds }: ProbeOptions['upstream'],
  ask: (dispatcher: Agent) => Promise<Dispatcher.ResponseData | Answered>,
): Promise<Answered> {
  const authorities = authoritiesOf(ca);
  const timeout = Math.min(connectSeconds * 1000, patienceMs);
  const agent = new Agent({
    connect: { timeout, ...(authorities && { ca: authorities }) },
    allowH2: http2,
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
  try {
    const answer = await ask(agent);
    if ('status' in answer) return answer;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: (await answer.body.text()).slice(0, 65_536),
    };
  } finally {
    await agent.destroy();
  }
}

/** Asks for a WebSocket, and takes a refusal for an answer like any other. */
function upgrading(
  dispatcher: Agent,
  { origin, path, version }: { readonly origin: string; readonly path: string; readonly version: string },
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin,
        path,
        method: 'GET',
        upgrade: 'websocket',
        headers: {
          'sec-websocket-version': '13',
          'sec-websocket-key': Buffer.from('sallyport doctor').toString('base64'),
          [version]: workerVersion,
        },
      },
      {
        onRequestStart: () => undefined,
        onRequestUpgrade(_controller, _status, headers, socket) {
          socket.on('error', () => undefined).destroy();
          resolve({ status: 101, headers, body: '' });
        },
        onResponseStart: (_controller, status, headers) => resolve({ status, headers, body: '' }),
        onResponseData: () => undefined,
        onResponseEnd: () => undefined,
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

function issuerOf(body: string): string | undefined {
  try {
    const { issuer } = JSON.parse(body) as { issuer?: unknown };
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}

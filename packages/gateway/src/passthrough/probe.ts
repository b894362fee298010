import { lookup } from 'node:dns/promises';
import { TLSSocket } from 'node:tls';
import { inDialect, type Dialect } from '@sallyport/core';
import { contract, families, headerNames, workerVersion } from '@sallyport/core/contract';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { CredentialRule } from '../config/credentials.ts';
import type { ConfiguredUpstream } from '../config/upstreams.ts';
import { authoritiesOf } from './authorities.ts';

/** What is asked of one upstream. */
export interface ProbeOptions {
  readonly upstream: ConfiguredUpstream;
  readonly connectSeconds: number;
  readonly dialect: Dialect;
  /** The credential that goes along in place of the callers'. */
  readonly rule: CredentialRule;
  /** The token of the gateway's own login, where the rule is that. */
  readonly token: (at: ConfiguredUpstream) => Promise<string>;
  /** The command that makes one. */
  readonly logIn: (at: ConfiguredUpstream) => string;
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
  const { upstream, connectSeconds, dialect, rule, servesOAuth, servesSockets } = options;
  const { key, url } = upstream;
  const { hostname, origin, pathname } = new URL(url);
  const base = pathname === '/' ? '' : pathname;
  const ask = (path: string, more: Partial<Dispatcher.RequestOptions> = {}) =>
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
  if (rule.kind === 'replace' || rule.kind === 'login')
    probes.push({
      name: 'credential',
      async run() {
        const value = rule.kind === 'login' ? await options.token(rule.at) : rule.value;
        const header = rule.kind === 'login' ? 'authorization' : rule.header;
        const { status, headers } = await ask(inDialect(families[0].prefix, dialect), {
          headers: { [header]: header === 'authorization' ? `Bearer ${value}` : value },
        });
        const elsewhere = redirectedTo(headers, url);
        if (elsewhere !== undefined)
          throw new Error(
            `${url} sends requests on to ${elsewhere} (${status}), where no credential follows: set ${key}.url to where they are served`,
          );
        if (status !== 401 && status !== 403) return `is not refused (${status})`;
        throw new Error(
          rule.kind === 'login'
            ? `${url} refuses the gateway's own login (${status}): run \`${options.logIn(rule.at)}\``
            : `${url} refuses the credential (${status}): set ${key}.credential to one that it knows`,
        );
      },
    });
  if (servesSockets)
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

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly isHttp2?: boolean;
}

type Reached = Pick<ConfiguredUpstream, 'ca' | 'http2'> & Pick<ProbeOptions, 'connectSeconds'>;

const patienceMs = 5_000;

async function asking(
  reached: Reached,
  ask: (dispatcher: Agent) => Promise<Dispatcher.ResponseData | Answered>,
): Promise<Answered> {
  let isHttp2 = false;
  const agent = agentFor(reached, (protocol) => (isHttp2 = protocol === 'h2'));
  try {
    const answer = await ask(agent);
    if ('status' in answer) return answer;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: (await answer.body.text()).slice(0, 65_536),
      isHttp2,
    };
  } finally {
    await agent.destroy();
  }
}

/** `agreed`: told of the protocol of each connection over TLS, as ALPN has it. */
function agentFor({ ca, http2, connectSeconds }: Reached, agreed: (protocol: unknown) => void): Agent {
  const authorities = authoritiesOf(ca);
  const timeout = Math.min(connectSeconds * 1000, patienceMs);
  const connect = buildConnector({ timeout, allowH2: http2, ...(authorities && { ca: authorities }) });
  return new Agent({
    connect: (to, done) =>
      connect(to, (...connected) => {
        const [, socket] = connected;
        if (socket instanceof TLSSocket) agreed(socket.alpnProtocol);
        done(...connected);
      }),
    allowH2: http2,
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
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

/** The other origin that an answer names as the place to ask at. */
function redirectedTo({ location }: Answered['headers'], url: string): string | undefined {
  const to = typeof location === 'string' ? URL.parse(location, url) : null;
  return to === null || to.origin === new URL(url).origin ? undefined : to.origin;
}

function issuerOf(body: string): string | undefined {
  try {
    const { issuer } = JSON.parse(body) as { issuer?: unknown };
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}

import { TLSSocket } from 'node:tls';
import { workerVersion } from '@sallyport/core/contract';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { ConfiguredUpstream } from '../config/upstreams.ts';
import { authoritiesOf } from './authorities.ts';

/** What an upstream says at one of its paths. */
export type Ask = (path: string, more?: Partial<Dispatcher.RequestOptions>) => Promise<Answered>;

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly isHttp2?: boolean;
}

/** How an upstream is reached. */
type Reached = Pick<ConfiguredUpstream, 'ca' | 'http2'> & { readonly connectSeconds: number };

const patienceMs = 5_000;
/** Of a body that is all that is looked at. */
const mostBytes = 65_536;

/** Asks over a connection of its own. */
export async function asking(
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
      body: await beginningOf(answer.body),
      isHttp2,
    };
  } finally {
    await agent.destroy();
  }
}

/** What comes of a body in good time: it may go on for ever, or only trickle in. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const end = performance.now() + patienceMs;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= mostBytes || performance.now() >= end) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, mostBytes);
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
export function upgrading(
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
export function redirectedTo({ location }: Answered['headers'], url: string): string | undefined {
  const to = typeof location === 'string' ? URL.parse(location, url) : null;
  return to === null || to.origin === new URL(url).origin ? undefined : to.origin;
}

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived; form and JSON bodies are both given as an object. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  /** What `now` said when it arrived. */
  readonly at: number;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, a text as it is. */
  readonly body?: unknown;
}

/** An answer, made for the request or not; `reset` breaks the connection. */
export type Scripted = Reply | 'reset' | ((request: Received) => Reply | 'reset' | Promise<Reply | 'reset'>);

/**
 * An authorization server that says what it is told to, right or wrong, over real HTTP.
 * A path answers with its script's next item, the last one for ever; without a script, with 404.
 */
export async function startScriptedServer(now: () => number = Date.now) {
  const scripts = new Map<string, Scripted[]>();
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks = await request.toArray().catch(() => undefined);
      if (chunks === undefined) return; // the client hung up amid it
      const text = Buffer.concat(chunks as Buffer[]).toString();
      const { pathname: path } = new URL(request.url ?? '/', baseUrl);
      const { method = '', headers } = request;
      const seen = { method, path, headers, body: parse(text, headers['content-type']), at: now() };
      received.push(seen);
      const script = scripts.get(path) ?? [{ status: 404, body: refusal('not_found') }];
      const scripted = script.length > 1 ? script.shift()! : script[0]!;
      const reply = typeof scripted === 'function' ? await scripted(seen) : scripted;
      if (reply === 'reset') return void request.socket.resetAndDestroy();
      const json = typeof reply.body !== 'string';
      response.writeHead(reply.status ?? 200, {
        'content-type': json ? 'application/json' : 'text/plain',
        ...reply.headers,
      });
      response.end(json ? JSON.stringify(reply.body ?? {}) : reply.body);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata = {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/v1/oauth/authorize`,
    token_endpoint: `${baseUrl}/v1/oauth/token`,
    device_authorization_endpoint: `${baseUrl}/v1/oauth/device_authorization`,
    revocation_endpoint: `${baseUrl}/v1/oauth/revoke`,
    authorization_response_iss_parameter_supported: true,
  };
  const on = (path: string, ...script: [Scripted, ...Scripted[]]) => void scripts.set(path, script);
  on('/.well-known/oauth-authorization-server', { body: metadata });
  return {
    baseUrl,
    metadata,
    received,
    on,
    to: (path: string) => received.filter((request) => request.path === path),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type ScriptedServer = Awaited<ReturnType<typeof startScriptedServer>>;

/** A refusal's body, as RFC 6749 5.2 and the service have it. */
export function refusal(error: string, details: object = {}) {
  return { error, error_description: `${error}.`, request_id: 'req_1', ...details };
}

/** A token response of the specification: three fields, and no `token_type`. */
export function tokens(n: number | string, expires_in = 3600) {
  return { access_token: accessToken(`at-${n}`), refresh_token: `rt-${n}`, expires_in };
}

/** A JWT in shape, which nobody verifies on this side. */
export function accessToken(jti: string, claims: object = { sub: 'account-1', org: 'org-1' }): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'ES256', typ: 'at+jwt' })}.${part({ jti, ...claims })}.c2ln`;
}

function parse(text: string, type = ''): Record<string, unknown> {
  if (text === '') return {};
  return type.startsWith('application/x-www-form-urlencoded')
    ? Object.fromEntries(new URLSearchParams(text))
    : (JSON.parse(text) as Record<string, unknown>);
}

import { request, type OutgoingHttpHeaders } from 'node:http';
import { endpoints, type Endpoint } from '@sallyport/core/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pastBeta, pathWithin, reachedHandlers, tokens } from '../../test/every-row.ts';
import { serve, type ServedApp } from '../../test/serve.ts';

let served: ServedApp;
beforeAll(async () => void (served = await serve({ handlers: reachedHandlers })));
afterAll(() => served.close());

interface Sent {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | undefined;
}

/** `node:http`, because `fetch` joins repeated headers and hides upgrades. */
function ask(path: string, { method, headers, body }: Sent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${served.url}${path}`, { method, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.once('error', reject);
    });
    outgoing.once('error', reject);
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve({ status: 101, text: '' });
    });
    outgoing.end(body);
  });
}

interface Step {
  /** The check that is failed, with the status that it answers with. */
  readonly status: number;
  readonly error: string;
  /** What mends it, and so leads to the next check. */
  readonly mend: Partial<Sent>;
}

/**
 * The checks of a row in their order (docs/design.md), each with what passes it. A request that fails them all is refused by the
 * first; mended there, by the next; in the end it reaches the handler.
 */
function stepsOf(endpoint: Endpoint): readonly Step[] {
  const { auth, scope, permission, beta, body, encodings = ['json'] } = endpoint;
  const token = tokens[auth];
  const bearer = (name: string) => ({ headers: { authorization: `Bearer ${name}` } });
  const steps: Step[] = [{ status: 405, error: 'method_not_allowed', mend: { method: endpoint.method } }];
  if (token !== undefined)
    steps.push({
      status: 401,
      error: 'invalid_token',
      mend: bearer(scope === undefined ? token : 'unscoped'),
    });
  if (scope !== undefined)
    steps.push({
      status: 403,
      error: 'insufficient_scope',
      mend: bearer(permission === 'read' ? 'nothing' : 'viewer'),
    });
  if (permission !== undefined) steps.push({ status: 403, error: 'forbidden', mend: bearer('access') });
  if (beta !== undefined)
    steps.push({
      status: 403,
      error: 'beta_not_enabled',
      // A repeated header; the value that is needed is the second one.
      mend: { headers: { 'vendor-beta': ['other-2020-01-01', `x , ${beta} `] } },
    });
  if (body !== undefined && encodings.includes('json')) {
    const type = { 'content-type': 'application/json' };
    steps.push(
      endpoint.area === 'oauth'
        ? { status: 400, error: 'invalid_request', mend: { headers: type } }
        : { status: 415, error: 'unsupported_media_type', mend: { headers: type } },
    );
    if (!encodings.includes('protobuf'))
      steps.push({ status: 400, error: 'invalid_request', mend: { body: '["not", "an", "object"]' } });
  }
  return steps;
}

const http = endpoints.filter(({ transport }) => transport !== 'websocket');

describe.each(http)('$id', (endpoint) => {
  test('is refused by the first check that fails, one after the other', async () => {
    let sent: Sent = {
      method: 'PUT',
      headers: { 'content-type': 'no type', 'vendor-beta': 'other-2020-01-01' },
      ...(endpoint.body !== undefined && { body: '{"broken' }),
    };
    for (const { status, error, mend } of stepsOf(endpoint)) {
      const answer = await ask(pathWithin(endpoint), sent);
      expect([answer.status, (JSON.parse(answer.text) as { error: string }).error], error).toEqual([
        status,
        error,
      ]);
      sent = { ...sent, ...mend, headers: { ...sent.headers, ...mend.headers } };
    }
  });
});

describe.each(endpoints.filter(({ body, encodings }) => body !== undefined && encodings === undefined))(
  '$id',
  (endpoint) => {
    test('names bad fields without what stood in them', async () => {
      const members = 'shape' in endpoint.body! ? Object.keys(endpoint.body.shape as object) : [];
      const secret = 'hunter2';
      const answer = await ask(pathWithin(endpoint), {
        method: endpoint.method,
        headers: {
          ...pastBeta(endpoint),
          authorization: `Bearer ${tokens[endpoint.auth] ?? ''}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(Object.fromEntries(members.map((name) => [name, { [secret]: [secret] }]))),
      });
      expect(answer.text).not.toContain(secret);
    });
  },
);

describe('an upgrade', () => {
  const places = ['/v1/sessions', '/v1/models', '/v1/oauth/authorize', '/healthz', '/no/such/path'];
  const plain = (path: string) => ask(path, { method: 'GET', headers: { authorization: 'Bearer access' } });

  test.each(places)('to a WebSocket where there is none is served as HTTP: %s', async (path) => {
    const answer = await ask(path, {
      method: 'GET',
      headers: {
        authorization: 'Bearer access',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    });
    expect(answer.status).toBe((await plain(path)).status);
  });

  test.each(places)('to another protocol is served as HTTP: %s', async (path) => {
    const answer = await ask(path, {
      method: 'GET',
      headers: { authorization: 'Bearer access', connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' },
    });
    expect(answer.status).toBe((await plain(path)).status);
  });
});

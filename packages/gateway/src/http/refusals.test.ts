import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve, type ServedApp } from '../../test/serve.ts';

let served: ServedApp;
beforeAll(async () => void (served = await serve()));
afterAll(() => served.close());

/** What comes back over a bare connection. */
async function raw(
  request: string,
): Promise<{ status: number; head: string; body: Record<string, unknown> }> {
  const socket = connect(served.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) as Record<string, unknown> };
}

const closing = 'Host: x\r\nConnection: close\r\n';

test.each([
  ['an unknown path', `GET /nothing HTTP/1.1\r\n${closing}\r\n`, 404, 'not_found'],
  [
    'an unknown path with a body of a strange type',
    `POST /nothing HTTP/1.1\r\n${closing}Content-Type: ?\r\nContent-Length: 1\r\n\r\nx`,
    404,
    'not_found',
  ],
  ['a known path with a slash more', `GET /v1/sessions/ HTTP/1.1\r\n${closing}\r\n`, 401, 'invalid_token'],
  [
    'a path that cannot be decoded',
    `GET /v1/sessions/%zz HTTP/1.1\r\n${closing}\r\n`,
    400,
    'invalid_request',
  ],
  [
    'a part of the path that is very long',
    `GET /v1/sessions/${'a'.repeat(5000)} HTTP/1.1\r\n${closing}\r\n`,
    414,
    'uri_too_long',
  ],
  [
    'headers that are very long',
    `GET / HTTP/1.1\r\n${closing}X: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  ['what is not HTTP', 'nonsense\r\n\r\n', 400, 'invalid_request'],
  ['a method of its own making', `BREW / HTTP/1.1\r\n${closing}\r\n`, 400, 'invalid_request'],
  [
    'a method that no route has',
    `PROPFIND /v1/sessions HTTP/1.1\r\n${closing}\r\n`,
    405,
    'method_not_allowed',
  ],
  [
    'two lengths of one body',
    `POST / HTTP/1.1\r\n${closing}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    400,
    'invalid_request',
  ],
])('%s is refused in the one shape', async (_name, request, status, error) => {
  const answer = await raw(request);
  expect([answer.status, answer.body['error']]).toEqual([status, error]);
  expect(answer.body['error_description']).toEqual(expect.any(String));
  expect(answer.head.toLowerCase()).toContain(
    `request-id: ${String(answer.body['request_id']).toLowerCase()}`,
  );
  expect(answer.head.toLowerCase()).toContain('content-type: application/json');
});

test('another protocol to upgrade to is served as HTTP, body and all (curl --http2)', async () => {
  const answer = await raw(
    'POST /v1/oauth/token HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 2\r\n' +
      'Content-Type: application/json\r\n\r\n{}',
  );
  expect([answer.status, answer.body['error']]).toEqual([501, 'not_implemented']);
});

import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';
import { createLog, loggedUrl } from './log.ts';

function collected() {
  const lines: Record<string, unknown>[] = [];
  const to = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
  return { lines, to };
}

test('credentials in headers and queries are not told', () => {
  const { lines, to } = collected();
  const log = createLog('info', to);
  const secret = 'hunter2';
  const headers = {
    authorization: secret,
    cookie: secret,
    'x-api-key': secret,
    'x-trusted-device-token': secret,
    'x-worker-token': secret,
    accept: 'text/plain',
  };
  log.info({ headers, request: { headers } }, 'seen');
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(JSON.stringify(lines)).toContain('text/plain');
  expect(loggedUrl('/setup?token=hunter2&a=1')).toBe('/setup?token=[Redacted]&a=1');
  expect(loggedUrl('/x?a=1&access_token=hunter2#f')).toBe('/x?a=1&access_token=[Redacted]#f');
  // A sign-in on the way to somewhere: the address has secrets of its own.
  expect(loggedUrl('/login?next=%2Fdevice%3Fuser_code%3Dhunter2')).toBe('/login?next=[Redacted]');
  expect(loggedUrl('/x?not_mine=1&CODE=hunter2')).toBe('/x?not_mine=1&CODE=[Redacted]');
  for (const name of [
    'api_key',
    'apikey',
    'X-Api-Key',
    'key',
    'client_secret',
    'password',
    'X-Amz-Signature',
  ])
    expect(loggedUrl(`/x?${name}=hunter2&a=1`)).toBe(`/x?${name}=[Redacted]&a=1`);
  expect(loggedUrl('http://me:hunter2@x/y?a=1@b')).toBe('http://[Redacted]@x/y?a=1@b');
  expect(loggedUrl('/keys?monkey_house=1&a=me:you@x')).toBe('/keys?monkey_house=1&a=me:you@x');
});

test('a cause that is no more than its message is told', () => {
  const { lines, to } = collected();
  createLog('info', to).error({ err: 'database or disk is full' }, 'failed');
  expect(lines[0]).toMatchObject({ err: { message: 'database or disk is full' } });
});

test('of an error only what it says is told', () => {
  const { lines, to } = collected();
  const error = Object.assign(new Error('odd bytes', { cause: new Error('why') }), {
    code: 'E_ODD',
    data: 'hunter2',
    options: { auth: 'hunter2' },
  });
  createLog('info', to).error({ err: error }, 'failed');
  expect(lines[0]).toMatchObject({ err: { type: 'Error', message: 'odd bytes: why', code: 'E_ODD' } });
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('one line a request, with its row, status and id; health is not worth a line', async () => {
  const { lines, to } = collected();
  const handlers = { sessions: { list: () => Promise.reject(new Error('the cause')) } };
  await using served = await serve({ handlers }, { log: createLog('info', to) });
  await fetch(`${served.url}/healthz`);
  await fetch(`${served.url}/v1/sessions?token=hunter2`, {
    headers: { authorization: 'Bearer access', 'request-id': 'mine' },
  });
  await fetch(`${served.url}/nothing`);
  await expect.poll(() => lines.length).toBe(3);
  expect(lines[0]).toMatchObject({ level: 50, request_id: 'mine', err: { message: 'the cause' } });
  expect(lines[1]).toMatchObject({
    level: 30,
    request_id: 'mine',
    row: 'sessions.list',
    method: 'GET',
    url: '/v1/sessions?token=[Redacted]',
    status: 500,
    ip: '127.0.0.1',
    ms: expect.any(Number) as number,
  });
  expect(lines[2]).toMatchObject({ status: 404, url: '/nothing' });
});

test('to ask for what this gateway does not serve is no fault of its own', async () => {
  const { lines, to } = collected();
  await using served = await serve({}, { log: createLog('info', to) });
  await fetch(`${served.url}/v1/messages`, { headers: { authorization: 'Bearer access' } });
  await fetch(`${served.url}/v1/sessions`, { headers: { authorization: 'Bearer access' } });
  await expect.poll(() => lines.length).toBeGreaterThanOrEqual(2);
  expect(lines).toMatchObject([
    { level: 30, status: 501, url: '/v1/messages' },
    { level: 30, status: 501, url: '/v1/sessions' },
  ]);
});

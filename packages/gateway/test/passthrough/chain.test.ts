import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway, type Gateway } from '../../src/start.ts';
import { RawConnection } from '../golden/connection.ts';
import { expectAnswer, knownIn, readTranscripts, toBytes, type Values } from '../golden/transcript.ts';

// A gateway in front of a gateway: what the golden transcripts say of one alone holds for both, byte for byte.
const values: Values = new Map();
let directory: string;
let front: Gateway;
let back: Gateway;
let connection: RawConnection;
const streams: RawConnection[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-chain-'));
  const dataDir = join(directory, 'back');
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const upstream = loadConfig({
    env: {},
    flags: { port: 0, dataDir, publicUrl, 'oauth.singleUser': true },
  }).config;
  back = await startGateway({
    config: { ...upstream, rateLimits: { default: 600, 'account.bootstrap': 1 } },
  });
  front = await startGateway({
    config: loadConfig({
      env: { SALLYPORT_UPSTREAM: back.url },
      flags: { port, dataDir: join(directory, 'front') },
    }).config,
  });
  const { sessionKey } = await withAuthorizationServer({ dataDir }, async ({ accounts, sessions }) =>
    sessions.issue((await accounts.find()).id),
  );
  values
    .set('host', new URL(publicUrl).host)
    .set('url', publicUrl)
    .set('encoded_url', encodeURIComponent(publicUrl))
    .set('session_key', sessionKey);
  connection = new RawConnection(port);
});

afterAll(async () => {
  for (const one of [connection, ...streams]) one[Symbol.dispose]();
  await front.close();
  await back.close();
  rmSync(directory, { recursive: true });
});

const answered = readTranscripts().flatMap(({ name, request, answer }) =>
  answer ? [[name, request, answer] as const] : [],
);

test.each(answered)('%s', async (name, request, answer) => {
  const { head, body } = await connection.exchange(toBytes(request, knownIn(values)));
  if (answer.head[0]?.includes(' 101 ')) {
    streams.push(connection);
    connection = new RawConnection(Number(new URL(front.url).port));
  }
  // A path that is nobody's is refused in front.
  if (name !== '40-no-such-path') expect(head).toMatch(/\r\nvia: 1\.1 sallyport/);
  const straight = head
    .split('\r\n')
    .filter((line) => line !== 'via: 1.1 sallyport')
    .join('\r\n');
  expectAnswer({ head: straight, body }, answer, values);
});

test('an event stream is the same through both', async () => {
  const path = `/v1/sessions/${values.get('session_id') ?? ''}/events/stream?beta=true`;
  const read = async (url: string, events: number) => {
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${values.get('access_token') ?? ''}`, 'request-id': 'mine' },
    });
    let text = '';
    const headers = Object.fromEntries(response.headers);
    const body = response.body ?? new ReadableStream<Uint8Array>();
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString();
      if (text.split('\n\n').length > events) break;
    }
    return { status: response.status, headers, text };
  };
  const straight = await read(back.url, 1);
  const { headers, ...through } = await read(front.url, 1);
  expect(straight.status).toBe(200);
  expect({ ...through, headers: { ...headers, via: undefined, date: undefined } }).toEqual({
    ...straight,
    headers: { ...straight.headers, via: undefined, date: undefined },
  });
});

test('the pages of the gateway behind are those of the one in front', async () => {
  for (const path of ['/login', '/account', '/account/password', '/setup', '/device?user_code=XXXX-XXXX']) {
    const [through, straight] = await Promise.all([
      fetch(front.url + path, { redirect: 'manual' }),
      fetch(back.url + path, { redirect: 'manual' }),
    ]);
    expect(through.status).toBe(straight.status);
    expect(through.headers.get('location')).toBe(straight.headers.get('location'));
    expect(through.headers.has('set-cookie')).toBe(straight.headers.has('set-cookie'));
  }
});

test('nobody is asked to set up an account in front', async () => {
  expect(await front.services.ownerToSetUp()).toBeUndefined();
  expect(await front.services.setupLink()).toBeUndefined();
});

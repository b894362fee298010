import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createServer } from 'node:tls';
import { freePort, ManualClock } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/http/log.ts';
import { driftFile } from '../../src/passthrough/drift.ts';
import { createAuthority } from './authority.ts';
import { findingsOf } from './findings.ts';
import { answer, exchange, rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

// A team shares a credential that nobody of it sees, whatever goes wrong, and whatever the upstream says of it.

const secret = 'sk-team-0123456789';
const callers = 'access-of-a-caller';

let directory: string;
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'sallyport-secrets-'))));
afterAll(() => rmSync(directory, { recursive: true }));

/** A gateway that shows `secret` upstream, and all that it says: answers of its own, its log, and what others may ask of it. */
async function telling(url: string, more: Readonly<Record<string, unknown>> = {}) {
  const dataDir = mkdtempSync(join(directory, 'data-'));
  const flags = {
    ...{ 'areas.oauth': 'local', 'areas.devices': 'local', 'upstream.credential': secret },
    ...{ 'upstream.validation': 'warn', 'upstream.connectSeconds': 2, dataDir, ...more },
  };
  const said: string[] = [];
  const to = new Writable({ write: (chunk, _encoding, done) => (said.push(String(chunk)), done()) });
  const clock = new ManualClock();
  const served = await through(url, flags, { clock, log: createLog('trace', to) });
  return {
    clock,
    url: served.url,
    ask: async (path: string, headers = '', method = 'GET') => {
      const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${callers}\r\n`;
      const text = await exchange(served.port, `${head}${headers}\r\n`);
      said.push(text);
      return text;
    },
    async everything() {
      for (const path of ['/metrics', '/readyz', '/healthz'])
        said.push(await (await fetch(served.url + path)).text());
      await served.close();
      said.push(JSON.stringify(await findingsOf({ upstream: url, ...flags })));
      if (flags['upstream.validation'] !== 'off') said.push(readFileSync(driftFile(dataDir), 'utf8'));
      return said.join('\n');
    },
  };
}

type Told = Awaited<ReturnType<typeof telling>>;

async function expectSilence(told: Told): Promise<void> {
  const everything = await told.everything();
  expect(everything.length).toBeGreaterThan(1000);
  expect(linesWith(everything, secret)).toEqual([]);
  expect(linesWith(everything, callers)).toEqual([]);
}

const linesWith = (text: string, part: string) => text.split('\n').filter((line) => line.includes(part));

/** What was heard, as an upstream that misbehaves says it back. */
const echoes: Readonly<Record<string, (head: string, socket: Socket) => unknown>> = {
  'a status line': (head, socket) => socket.write(`${head.replaceAll('\r\n', ' ')}\r\n\r\n`),
  'a header line': (head, socket) => socket.write(`HTTP/1.1 200 OK\r\n${head.replaceAll(':', '')}\r\n\r\n`),
  'a chunk': (head, socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${head}\r\n`),
  'half a head': (head, socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nx-heard: ${/sk-\S+/.exec(head)?.[0] ?? ''}`),
};

test.each(Object.entries(echoes))('an upstream that says it back in %s', async (_name, echo) => {
  await using upstream = await rawUpstream((socket, head) => echo(head, socket));
  const told = await telling(upstream.url, { 'upstream.validation': 'off' });
  for (const path of ['/v1/models', '/v1/sessions']) expect(await told.ask(path)).not.toMatch(/^HTTP\S+ 4/);
  await expectSilence(told);
});

test('an upstream that says it back over TLS, to a client of another make', async () => {
  const authority = await createAuthority();
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, authority.ca);
  const server = createServer({ ...(await authority.issue()), ALPNProtocols: ['http/1.1'] }, (socket) =>
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => socket.write(`HTTP/1.1 200 OK\r\nX Heard: ${bytes.toString()}`)),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const flags = { 'upstream.ca': ca, 'upstream.http2': true, 'upstream.validation': 'off' };
  const told = await telling(url, flags);
  expect(await told.ask('/v1/models')).toMatch(/^HTTP\/1\.1 502/);
  await expectSilence(told);
  server.close();
});

test('an upstream that is away, that is silent, that hangs up, and one whose breaker is open', async () => {
  const away = await telling(`http://127.0.0.1:${await freePort()}`, { 'upstream.validation': 'off' });
  expect(await away.ask('/v1/models')).toMatch(/^HTTP\/1\.1 502/);
  await expectSilence(away);

  await using upstream = await rawUpstream((socket, head) => {
    if (!head.includes('silent')) socket.resetAndDestroy();
  });
  const told = await telling(upstream.url, { 'upstream.validation': 'off' });
  const waiting = told.ask('/v1/models?silent');
  await until(() => upstream.heads.length === 1);
  await told.clock.advance(600_000);
  expect(await waiting).toMatch(/^HTTP\/1\.1 504/);
  for (let round = 0; round < 4; round++) expect(await told.ask('/v1/models')).toMatch(/^HTTP\/1\.1 502/);
  expect(await told.ask('/v1/models')).toMatch(/\r\nretry-after: /i);
  await expectSilence(told);
});

test.each(['warn', 'enforce'])(
  'messages that depart from the contract, where that is to %s',
  async (mode) => {
    const wrong = JSON.stringify({
      id: secret,
      environment_id: [secret],
      title: 7,
      [secret.slice(3)]: secret,
    });
    await using upstream = await rawUpstream((socket) =>
      socket.write(answer(wrong, { headers: 'content-type: application/json\r\n' })),
    );
    const told = await telling(upstream.url, { 'upstream.validation': mode });
    const text = await told.ask('/v1/sessions/s');
    expect(text).toMatch(mode === 'warn' ? /^HTTP\/1\.1 200/ : /^HTTP\/1\.1 502 [^]*upstream_unfit/);
    // What the upstream says of it in an answer is the upstream's own.
    if (mode === 'enforce') await expectSilence(told);
    else expect(linesWith((await told.everything()).replace(text, ''), secret)).toEqual([]);
  },
);

test('requests that cannot go on, and TRACE, which would show it', async () => {
  await using upstream = await rawUpstream((socket, head) => socket.write(answer(head)));
  const told = await telling(upstream.url, { 'upstream.validation': 'off' });
  expect(await told.ask('/v1/files/../x')).toMatch(/^HTTP\/1\.1 40/);
  expect(await told.ask('/v1/models', 'Host: y\r\n')).toMatch(/^HTTP\/1\.1 400/);
  expect(await told.ask('/v1/models', `Via: ${'1.1 sallyport, '.repeat(9)}x\r\n`)).toMatch(/^HTTP\/1\.1 502/);
  expect(await told.ask('/v1/models', '', 'TRACE')).toMatch(/^HTTP\/1\.1 (404|405|501)/);
  expect(upstream.heads).toEqual([]);
  await expectSilence(told);
});

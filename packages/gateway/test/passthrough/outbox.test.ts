import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createIds, silentLog, type Random } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openOutbox } from '../../src/passthrough/outbox.ts';
import { openEmbeddedStore, type EmbeddedStore } from '../../src/store/embedded/store.ts';
import { lossyLine } from '../lossy-line.ts';
import { serveTelemetry } from '../telemetry/serve-telemetry.ts';
import { until } from './raw-upstream.ts';
import { scriptedUpstream, type ScriptedUpstream, type SeenRequest } from './scripted-upstream.ts';
import { through } from './through.ts';

// Telemetry that goes upstream is accepted while the upstream is away, rests on disk, and goes there later, in order.

const own = { 'areas.oauth': 'local', 'areas.devices': 'local', 'upstream.credential': 'sk-team' };
const day = 24 * 3600 * 1000;

// One for all: each test leaves it empty.
let directory: string;
let store: EmbeddedStore;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-outbox-'));
  store = await openEmbeddedStore({ path: join(directory, 'store.db') });
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

async function keeping(
  upstream: ScriptedUpstream,
  flags: Record<string, unknown> = {},
  mayKeep?: (organizationId: string) => Promise<boolean>,
) {
  const clock = new ManualClock(Date.now());
  const ids = createIds(clock, half);
  const outbox = await openOutbox({ store: store.outbox, clock, random: half, ids, log: silentLog });
  const more = { outbox, ...(mayKeep && { mayKeep }) };
  const served = await through(upstream.url, { ...own, ...flags }, { clock }, more);
  onTestFinished(async () => {
    await served.close();
    await outbox.stop();
  });
  const count = (name: string, reason?: string) =>
    outbox
      .stats()
      .find((stat) => stat.name === `telemetry_outbox_${name}` && stat.labels?.['reason'] === reason)?.value;
  return { url: served.url, clock, count };
}

/** Half of each pause, which then has a known length. */
// A step of the clock must not be longer: it would end the delivery that begins in it, too.
const half: Random = { fraction: () => 0.5, bytes: (n) => new Uint8Array(n) };

const event = { severityNumber: 9, body: { stringValue: 'hello' } };

function batch(url: string, name: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/api/event_logging/v2/batch`, {
    method: 'POST',
    body: JSON.stringify({ events: [{ ...event, name }, event] }),
    ...init,
    headers: {
      authorization: 'Bearer access',
      'content-type': 'application/json',
      'x-service-name': name,
      ...(init.headers as Record<string, string> | undefined),
    },
  });
}

const down = (_request: SeenRequest, response: { destroy(): unknown }) => void response.destroy();
const up: ScriptedUpstream['answer'] = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'application/json', 'x-own': 'yes' }).end('{"accepted":9}');
const names = ({ seen }: ScriptedUpstream) => seen.map(({ headers }) => headers['x-service-name']);

test('an upstream that is there answers itself, and nothing rests here', async () => {
  await using upstream = await scriptedUpstream();
  const { url, count } = await keeping(upstream);
  upstream.answer = up;
  const taken = await batch(url, 'one', { headers: { 'x-sent-at': '1' } });
  expect([taken.status, await taken.text(), taken.headers.get('x-own'), taken.headers.get('via')]).toEqual([
    200,
    '{"accepted":9}',
    'yes',
    '1.1 sallyport',
  ]);
  upstream.answer = (_request, response) => void response.writeHead(400).end('{"error":"theirs"}');
  const refused = await batch(url, 'two');
  expect([refused.status, await refused.text()]).toEqual([400, '{"error":"theirs"}']);
  expect(upstream.seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk-team', 'x-sent-at': '1' });
  expect(count('kept_total')).toBe(0);
});

test('while it is away requests are accepted, and go later: in order, as they came, under its own credential', async () => {
  await using upstream = await scriptedUpstream();
  const { url, clock, count } = await keeping(upstream);
  upstream.answer = down;
  const first = await batch(url, 'one', { headers: { 'x-sent-at': '1', cookie: 'secret=cookie' } });
  expect([first.status, await first.json()]).toEqual([200, { accepted: 2 }]);
  const zipped = gzipSync(JSON.stringify({ events: [event, event, event] }));
  const second = await batch(url, 'two', { body: zipped, headers: { 'content-encoding': 'gzip' } });
  expect([second.status, await second.json()]).toEqual([200, { accepted: 3 }]);
  const logs = { method: 'POST', headers: { authorization: 'Bearer access', 'x-service-name': 'three' } };
  const third = await fetch(`${url}/v1/logs`, {
    ...logs,
    headers: { ...logs.headers, 'content-type': 'application/x-protobuf' },
    body: Buffer.from([10, 0]),
  });
  expect([third.status, await third.text(), third.headers.get('content-type')]).toEqual([
    200,
    '',
    'application/x-protobuf',
  ]);
  const fourth = await fetch(`${url}/v1/logs`, {
    ...logs,
    headers: { ...logs.headers, 'x-service-name': 'four', 'content-type': 'application/json' },
    body: '{"resourceLogs":[]}',
  });
  expect([fourth.status, await fourth.text()]).toEqual([200, '{}']);
  expect([count('requests'), count('kept_total')]).toEqual([4, 4]);
  for (const file of ['store.db', 'store.db-wal'])
    expect(readFileSync(join(directory, file), 'latin1')).not.toMatch(/Bearer access|sk-team|secret=cookie/);

  await until(() => count('retries_total') === 1 && clock.timers > 0);
  upstream.seen.length = 0;
  upstream.answer = up;
  await clock.advance(1000);
  await until(() => count('requests') === 0);
  expect(names(upstream)).toEqual(['one', 'two', 'three', 'four']);
  expect(upstream.seen[1]?.body).toEqual(zipped);
  expect(upstream.seen[1]?.headers).toMatchObject({
    authorization: 'Bearer sk-team',
    'content-encoding': 'gzip',
    'idempotency-key': expect.stringMatching(/^req_/) as string,
  });
  // The sender's clock is not wrong because its request had to wait.
  expect(upstream.seen[0]?.headers['x-sent-at']).toBeUndefined();
  expect(count('forwarded_total')).toBe(4);
  expect((await batch(url, 'five')).headers.get('x-own')).toBe('yes');
});

test('where answers are lost on the way, another gateway stores batches and logs once', async () => {
  const other = await serveTelemetry();
  await using line = await lossyLine(other.url);
  const { url, clock, count } = await keeping(line, { 'upstream.credential': 'access' });
  const logs = (body: string) =>
    fetch(`${url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: 'Bearer access', 'content-type': 'application/json' },
      body,
    });
  const ofLogs = (name: string) =>
    JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ eventName: name }] }] }] });
  for (const answer of [await batch(url, 'one'), await logs(ofLogs('two')), await logs(ofLogs('three'))])
    expect(answer.status).toBe(200);
  while (count('requests') !== 0) {
    await until(() => clock.timers > 0 || count('requests') === 0);
    await clock.advance(500);
  }
  expect([line.lost(), count('forwarded_total')]).toEqual([3, 3]);
  expect((await other.stored()).map(({ eventName }) => eventName)).toEqual([null, null, 'two', 'three']);
});

test('Retry-After is waited for, and who comes meanwhile stands behind', async () => {
  await using upstream = await scriptedUpstream();
  const { url, clock, count } = await keeping(upstream);
  upstream.answer = (_request, response) => void response.writeHead(503, { 'retry-after': '120' }).end();
  await batch(url, 'one');
  await until(() => count('retries_total') === 1 && clock.timers > 0);
  upstream.seen.length = 0;
  upstream.answer = up;
  expect((await batch(url, 'two')).headers.get('x-own')).toBeNull();
  await clock.advance(119_000);
  expect(upstream.seen).toEqual([]);
  await clock.advance(2000);
  await until(() => count('requests') === 0);
  expect(names(upstream)).toEqual(['one', 'two']);
});

test('one that the upstream refuses does not stand in the way of the next', async () => {
  await using upstream = await scriptedUpstream();
  const { url, clock, count } = await keeping(upstream);
  upstream.answer = down;
  for (const name of ['one', 'two', 'three']) await batch(url, name);
  await until(() => count('retries_total') === 1 && clock.timers > 0);
  upstream.seen.length = 0;
  upstream.answer = (request, response) =>
    void response.writeHead(request.headers['x-service-name'] === 'two' ? 400 : 200).end('{}');
  await clock.advance(1000);
  await until(() => count('requests') === 0);
  expect(names(upstream)).toEqual(['one', 'two', 'three']);
  expect([count('forwarded_total'), count('dead_letters')]).toEqual([2, 1]);
});

test('a refused credential keeps what waits until it is put right', async () => {
  await using upstream = await scriptedUpstream();
  const { url, clock, count } = await keeping(upstream);
  upstream.answer = (_request, response) => void response.writeHead(401).end('{}');
  expect((await batch(url, 'one')).status).toBe(200);
  await until(() => count('retries_total') === 1 && clock.timers > 0);
  upstream.answer = up;
  await clock.advance(60_000);
  await until(() => count('requests') === 0);
  expect(count('forwarded_total')).toBe(1);
});

const big = JSON.stringify({ events: [{ ...event, body: { stringValue: 'x'.repeat(6000) } }] });

test('what waits is bounded: where it is full, callers keep what they have, and nothing that was accepted goes', async () => {
  await using upstream = await scriptedUpstream();
  const { url, clock, count } = await keeping(upstream, { 'upstream.outboxBytes': 16_000 });
  upstream.answer = down;
  for (const name of ['one', 'two']) expect((await batch(url, name, { body: big })).status).toBe(200);
  const full = await batch(url, 'three', { body: big });
  expect([full.status, full.headers.get('retry-after'), await full.json()]).toEqual([
    429,
    '30',
    expect.objectContaining({ error: 'temporarily_unavailable' }),
  ]);
  const logs = await fetch(`${url}/v1/logs`, {
    method: 'POST',
    headers: { authorization: 'Bearer access', 'content-type': 'application/json' },
    body: `{"resourceLogs":[]${' '.repeat(6000)}}`,
  });
  expect([logs.status, logs.headers.get('retry-after'), await logs.json()]).toEqual([
    503,
    '30',
    expect.objectContaining({ error: 'store_unavailable', code: 14 }),
  ]);
  expect([count('requests'), count('kept_total'), count('dropped_total', 'overflow')]).toEqual([2, 2, 0]);
  await until(() => count('retries_total') === 1 && clock.timers > 0);
  upstream.seen.length = 0;
  upstream.answer = up;
  await clock.advance(1000);
  await until(() => count('requests') === 0);
  expect(names(upstream)).toEqual(['one', 'two']);
});

test('where the newest matter more, the oldest goes for room; so does what is too old; both are counted', async () => {
  await using upstream = await scriptedUpstream();
  const bounds = { 'upstream.outboxBytes': 24_000, 'upstream.outboxFull': 'drop_oldest' };
  const { url, clock, count } = await keeping(upstream, bounds);
  upstream.answer = down;
  for (const name of ['one', 'two', 'three', 'four']) await batch(url, name, { body: big });
  expect(count('dropped_total', 'overflow')).toBe(4 - (count('requests') ?? 0));
  expect(count('requests')).toBeLessThan(4);
  expect(count('bytes')).toBeLessThanOrEqual(24_000);
  const left = count('requests') ?? 0;
  await until(() => count('retries_total') === 1 && clock.timers > 0);
  upstream.seen.length = 0;
  upstream.answer = up;
  clock.jump(7 * day + 1);
  await batch(url, 'young');
  await clock.advance(1000);
  await until(() => count('requests') === 0);
  expect(names(upstream)).toEqual(['young']);
  expect(count('dropped_total', 'age')).toBe(left);
});

test('what the upstream would have to refuse is refused here while it is away', async () => {
  await using upstream = await scriptedUpstream();
  const { url, count } = await keeping(upstream);
  upstream.answer = down;
  const bad = await batch(url, 'one', { body: '{"events":7}' });
  expect([bad.status, ((await bad.json()) as { error: string }).error]).toEqual([400, 'invalid_request']);
  expect(
    (await batch(url, 'two', { body: 'not gzip', headers: { 'content-encoding': 'gzip' } })).status,
  ).toBe(400);
  for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'br' }]) {
    expect((await batch(url, 'two', { headers })).status).toBe(415);
    const all = { authorization: 'Bearer access', 'content-type': 'application/json', ...headers };
    expect((await fetch(`${url}/v1/logs`, { method: 'POST', headers: all, body: '{}' })).status).toBe(415);
  }
  expect((await batch(url, 'three', { body: Buffer.alloc(8 * 1024 * 1024 + 1) })).status).toBe(413);
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024 + 1));
  expect((await batch(url, 'bomb', { body: bomb, headers: { 'content-encoding': 'gzip' } })).status).toBe(
    413,
  );
  const many = await batch(url, 'many', { body: JSON.stringify({ events: new Array(51).fill(7) }) });
  expect([many.status, await many.json()]).toEqual([
    413,
    expect.objectContaining({ error: 'too_many_events' }),
  ]);
  const wrong = await batch(url, 'wrong', { body: '{"events":[{},{"traceId":"ab"}]}' });
  expect([wrong.status, await wrong.json()]).toEqual([
    400,
    expect.objectContaining({ issues: [expect.objectContaining({ path: 'events/1/traceId' })] }),
  ]);
  for (const [type, body] of [
    ['application/json', '{"resourceLogs":7}'],
    ['application/x-protobuf', Buffer.from([10, 5])],
  ] as const) {
    const headers = { authorization: 'Bearer access', 'content-type': type };
    expect((await fetch(`${url}/v1/logs`, { method: 'POST', headers, body })).status).toBe(400);
  }
  expect((await batch(url, 'four', { headers: { authorization: 'Bearer nobody' } })).status).toBe(401);
  expect(count('kept_total')).toBe(0);
});

test('what an organization without data retention sends is accepted and dropped, whether the upstream is there or not', async () => {
  await using upstream = await scriptedUpstream();
  const { url, count } = await keeping(upstream, {}, async () => false);
  for (const answer of [up, down]) {
    upstream.answer = answer;
    const taken = await batch(url, 'one');
    expect([taken.status, await taken.json()]).toEqual([200, { accepted: 2 }]);
    expect((await batch(url, 'bad', { body: '{"events":[7]}' })).status).toBe(400);
  }
  expect(upstream.seen).toEqual([]);
  expect([count('requests'), count('kept_total'), count('dropped_total', 'zero_retention')]).toEqual([
    0, 0, 2,
  ]);
});

test('nothing rests here of callers whose own credential goes along, nor without room', async () => {
  await using upstream = await scriptedUpstream();
  upstream.answer = down;
  const oauth = { 'areas.oauth': 'upstream', 'areas.devices': 'upstream', 'upstream.credential': undefined };
  for (const { url, count } of [
    await keeping(upstream, oauth),
    await keeping(upstream, { 'upstream.outboxBytes': 0 }),
  ]) {
    expect((await batch(url, 'one')).status).toBe(502);
    expect([count('requests'), count('kept_total')]).toEqual([0, 0]);
  }
});

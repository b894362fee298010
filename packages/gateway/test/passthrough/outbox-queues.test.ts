import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { outboxes } from './outbox-harness.ts';
import { scriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts';

// Each organization has a queue of its own: what one of them has to wait for, the others need not.

const keptFor = outboxes();

const answering = (response: ServerResponse, status: number, headers = {}) =>
  void response.writeHead(status, headers).end('{}');

/** Who sent what comes is in its name: `bad.1` is of `bad`. */
const names = ({ seen }: ScriptedUpstream) => seen.map(({ headers }) => String(headers['x-service-name']));
const namesOf = (organization: string, upstream: ScriptedUpstream) =>
  names(upstream).filter((name) => name.startsWith(`${organization}.`));

test.each([401, 403, 429, 503])(
  'while one organization is answered with %i, what the others have goes, in order',
  async (status) => {
    await using upstream = await scriptedUpstream();
    const { keep, count, drained } = await keptFor(upstream);
    upstream.answer = ({ headers }, response) => {
      const isBad = String(headers['x-service-name']).startsWith('bad');
      answering(response, isBad ? status : 200, status === 429 ? { 'retry-after': '20' } : {});
    };
    for (let i = 0; i < 5; i++) for (const name of ['bad', 'good', 'fine']) await keep(name, `${name}.${i}`);
    await expect.poll(() => count('forwarded_total')).toBe(10);
    for (const name of ['good', 'fine'])
      expect(namesOf(name, upstream)).toEqual([0, 1, 2, 3, 4].map((i) => `${name}.${i}`));
    expect(new Set(namesOf('bad', upstream))).toEqual(new Set(['bad.0']));
    expect(count('requests')).toBe(5);
    upstream.answer = (_request, response) => answering(response, 200);
    upstream.seen.length = 0;
    await drained();
    expect(names(upstream)).toEqual([0, 1, 2, 3, 4].map((i) => `bad.${i}`));
  },
);

test('one organization whose requests hang holds up nobody, at once or behind it', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, count, outbox, clock } = await keptFor(upstream);
  upstream.answer = ({ headers }, response) => {
    if (!String(headers['x-service-name']).startsWith('slow')) answering(response, 200);
  };
  for (let i = 0; i < 3; i++) for (const name of ['slow', 'good']) await keep(name, `${name}.${i}`);
  await expect.poll(() => count('forwarded_total')).toBe(3);
  const request = {
    accountId: '',
    receivedAt: clock.now(),
    path: '/v1/logs',
    headers: [],
    body: Buffer.from('{}'),
  };
  expect((await outbox.deliver({ ...request, organizationId: 'good' }))?.status).toBe(200);
  expect(await outbox.deliver({ ...request, organizationId: 'slow' })).toBeUndefined();
});

test('an organization that floods does not stand before the others', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, count, drained } = await keptFor(upstream);
  upstream.answer = (_request, response) => void response.destroy();
  for (let i = 0; i < 200; i++) await keep('flood', `flood.${i}`);
  for (let i = 0; i < 3; i++) await keep('calm', `calm.${i}`);
  await expect.poll(() => count('retries_total')).toBeGreaterThan(0);
  upstream.seen.length = 0;
  upstream.answer = (_request, response) => answering(response, 200);
  await drained();
  expect(namesOf('calm', upstream)).toEqual(['calm.0', 'calm.1', 'calm.2']);
  expect(namesOf('flood', upstream)).toEqual(Array.from({ length: 200 }, (_, i) => `flood.${i}`));
});

test('a credential that is refused to all is tried by one at a time, a few times an hour, and nothing is lost', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, clock, count, outbox, drained } = await keptFor(upstream);
  upstream.answer = (_request, response) => answering(response, 401);
  for (let i = 0; i < 30; i++) await keep(`org${i}`, `org${i}.0`);
  await expect.poll(() => count('retries_total')).toBeGreaterThanOrEqual(30);
  expect(upstream.seen.length).toBeLessThanOrEqual(7);
  expect(outbox.refusedCredential()).toBe(
    "Telemetry waits: the upstream refuses the gateway's credential (it answers with 401).",
  );
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(upstream.seen.length).toBeLessThanOrEqual(7 + 61);
  expect(count('requests')).toBe(30);
  upstream.answer = (_request, response) => answering(response, 200);
  await drained(2000);
  expect([count('forwarded_total'), outbox.refusedCredential()]).toEqual([30, undefined]);
});

test('what waits from before is taken up at the start, in queues', async () => {
  await using upstream = await scriptedUpstream();
  upstream.answer = (_request, response) => void response.destroy();
  const first = await keptFor(upstream);
  for (let i = 0; i < 3; i++) for (const name of ['a', 'b']) await first.keep(name, `${name}.${i}`);
  await first.close();
  upstream.seen.length = 0;
  upstream.answer = (_request, response) => answering(response, 200);
  const second = await keptFor(upstream);
  await second.drained();
  for (const name of ['a', 'b'])
    expect(namesOf(name, upstream)).toEqual([0, 1, 2].map((i) => `${name}.${i}`));
});

test('an organization that floods leaves the last eighth of the room to others', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, count } = await keptFor(upstream, { 'upstream.outboxRecords': 80 });
  upstream.answer = (_request, response) => void response.destroy();
  let kept = 0;
  while (await keep('flood', `flood.${kept}`)) kept++;
  expect(kept).toBe(70);
  for (let i = 0; i < 10; i++) expect(await keep('calm', `calm.${i}`)).toBe(true);
  expect(await keep('calm', 'one too many')).toBe(false);
  expect([count('records'), count('dropped_total', 'overflow')]).toEqual([80, 0]);
});

test('for the newest, the oldest of the longest queue goes', async () => {
  await using upstream = await scriptedUpstream();
  const bounds = { 'upstream.outboxRecords': 10, 'upstream.outboxFull': 'drop_oldest' };
  const { keep, count, store } = await keptFor(upstream, bounds);
  upstream.answer = (_request, response) => void response.destroy();
  await keep('calm', 'calm.0');
  for (let i = 0; i < 12; i++) expect(await keep('flood', `flood.${i}`)).toBe(true);
  expect([count('records'), count('dropped_total', 'overflow')]).toEqual([10, 3]);
  const first = async (organizationId: string) => (await store.oldest({ organizationId }))?.headers[3];
  expect([await first('calm'), await first('flood')]).toEqual(['calm.0', 'flood.3']);
});

test('records are bounded beside bytes, and how long the oldest waits is told', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, count, clock, drained } = await keptFor(upstream, { 'upstream.outboxRecords': 100 });
  upstream.answer = (_request, response) => void response.destroy();
  expect(count('oldest_age_seconds')).toBe(0);
  expect(await keep('a', 'a.0', 50)).toBe(true);
  clock.jump(90_000);
  expect(await keep('b', 'b.0', 30)).toBe(true);
  for (const name of ['c', 'd']) expect(await keep(name, `${name}.0`, 10)).toBe(true);
  expect(await keep('e', 'e.0', 1)).toBe(false);
  expect([count('records'), count('oldest_age_seconds')]).toEqual([100, 90]);
  upstream.answer = (_request, response) => answering(response, 200);
  await drained();
  expect([count('records'), count('oldest_age_seconds')]).toEqual([0, 0]);
});

test('nothing is kept that would leave less than the reserve on the disk', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, store, clock } = await keptFor(upstream);
  upstream.answer = (_request, response) => void response.destroy();
  expect(await keep('a', 'a.0')).toBe(true);
  const request = {
    organizationId: 'a',
    accountId: '',
    receivedAt: clock.now(),
    path: '/',
    headers: [],
    records: 1,
  };
  const bounds = { maxBytes: 1e9, maxRecords: 1e6, reserveBytes: 2 ** 60 };
  const full = { ...request, body: Buffer.from('{}') };
  for (const whenFull of ['reject', 'drop_oldest'] as const)
    expect(await store.keep({ ...full, bounds: { ...bounds, whenFull } })).toMatchObject({ isKept: false });
});

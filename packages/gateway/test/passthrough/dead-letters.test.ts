import type { ServerResponse } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { adminCommand } from '../admin/command.ts';
import { eventsIn, outboxes } from './outbox-harness.ts';
import { scriptedUpstream, type ScriptedUpstream, type SeenRequest } from './scripted-upstream.ts';

vi.setConfig({ testTimeout: 60_000 });

// What an upstream refuses for good is put aside: it neither stands in the way of the next, nor is it lost without a word.

const keptFor = outboxes();

const answering = (response: ServerResponse, status: number, body = '{}') =>
  void response.writeHead(status).end(body);

/** Who takes at most so many events at once, and says which were taken. */
function takingUpTo(most: number, taken: string[]): ScriptedUpstream['answer'] {
  return ({ body, headers }: SeenRequest, response) => {
    const events = eventsIn(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
    if (events.length > most) return answering(response, 413, '{"error":"too_large"}');
    taken.push(...events);
    answering(response, 200);
  };
}

test('a refused request is put aside with why and how many records, and the next one goes', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, count, store } = await keptFor(upstream);
  const answer = { '400': '{"error":\n"no \u001b[31mgood"}', '404': '', '415': 'x'.repeat(9999) };
  upstream.answer = ({ headers }, response) => {
    const status = String(headers['x-service-name']);
    if (status in answer) answering(response, Number(status), answer[status as keyof typeof answer]);
    else answering(response, 200);
  };
  for (const name of ['one', '400', '404', '415', 'last']) await keep('org', name, 2);
  await drained();
  expect(upstream.seen.map(({ headers }) => headers['x-service-name'])).toEqual([
    'one',
    '400',
    '404',
    '415',
    'last',
  ]);
  expect(['forwarded_total', 'dead_letters', 'dead_letter_records'].map((name) => count(name))).toEqual([
    2, 3, 6,
  ]);
  expect([count('refused_total', '400'), count('refused_total', '404')]).toEqual([1, 1]);
  const letters = await store.deadLetters({ after: 0, limit: 10 });
  expect(letters).toMatchObject([
    { organizationId: 'org', status: 400, reason: '{"error": "no  [31mgood"}', records: 2 },
    { status: 404, reason: 'Not Found' },
    { status: 415, reason: 'x'.repeat(300), path: '/api/event_logging/v2/batch' },
  ]);
  expect(letters[0]?.refusedAt).toBeGreaterThanOrEqual(letters[0]?.receivedAt ?? Infinity);
});

test('one that is too large goes in halves, in its place, each under a key of its own', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, count } = await keptFor(upstream);
  const taken: string[] = [];
  upstream.answer = takingUpTo(2, taken);
  await keep('org', 'before');
  await keep('org', 'large', 7);
  await keep('org', 'zipped', 3, {
    headers: ['Content-Encoding', 'gzip', 'Content-Length', '999', 'idempotency-key', 'key-zipped'],
    body: gzipSync(JSON.stringify({ events: [0, 1, 2].map((i) => ({ eventName: `zipped.${i}` })) })),
  });
  await keep('org', 'after');
  await drained();
  expect(taken).toEqual([
    'before.0',
    ...[0, 1, 2, 3, 4, 5, 6].map((i) => `large.${i}`),
    ...[0, 1, 2].map((i) => `zipped.${i}`),
    'after.0',
  ]);
  const keys = upstream.seen.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(keys.length);
  expect([count('split_total'), count('dead_letters'), count('records')]).toEqual([4, 0, 0]);
});

test('a single record that is too large is put aside, and what came with it goes', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, count } = await keptFor(upstream);
  const taken: string[] = [];
  upstream.answer = (request, response) => {
    if (eventsIn(request.body).includes('batch.2')) answering(response, 413);
    else takingUpTo(50, taken)(request, response);
  };
  await keep('org', 'batch', 6);
  await drained();
  expect(taken).toEqual([0, 1, 3, 4, 5].map((i) => `batch.${i}`));
  expect([count('dead_letters'), count('dead_letter_records'), count('refused_total', '413')]).toEqual([
    1, 1, 1,
  ]);
});

test('what is too large and cannot be halved is put aside whole', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, count } = await keptFor(upstream);
  upstream.answer = (_request, response) => answering(response, 413);
  await keep('org', 'unreadable', 3, { body: Buffer.from('{"events":[') });
  await keep('org', 'not gzip', 2, { headers: ['content-encoding', 'gzip'], body: Buffer.from('{}') });
  await drained();
  expect([count('dead_letters'), count('dead_letter_records'), count('split_total')]).toEqual([2, 5, 0]);
});

test('an upstream to which everything is too large is the one that is wrong: it gets one a minute', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, clock, count, drained } = await keptFor(upstream);
  upstream.answer = (_request, response) => answering(response, 413);
  for (let i = 0; i < 20; i++) await keep('org', `n${i}`);
  await expect.poll(() => count('dead_letters')).toBe(5);
  for (let minutes = 0; minutes < 3; minutes++) {
    const since = clock.now();
    while (count('dead_letters') === 5 + minutes) {
      await clock.advance(1000);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(clock.now() - since).toBeGreaterThanOrEqual(59_000);
  }
  upstream.answer = (_request, response) => answering(response, 200);
  await drained();
  expect([count('forwarded_total'), count('dead_letters')]).toEqual([12, 8]);
});

test('what was sent elsewhere was not taken: it waits', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, count } = await keptFor(upstream);
  upstream.answer = (_request, response) => void response.writeHead(302, { location: '/login' }).end();
  await keep('org', 'one');
  await expect.poll(() => count('retries_total')).toBe(1);
  expect([count('forwarded_total'), count('requests')]).toEqual([0, 1]);
  upstream.answer = (_request, response) => answering(response, 200);
  await drained();
  expect(count('forwarded_total')).toBe(1);
});

test('dead letters are bounded by room and by age: the first go, and are counted', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, clock, count, store, outbox } = await keptFor(upstream);
  upstream.answer = (_request, response) => answering(response, 400);
  const body = Buffer.alloc(1000);
  for (let i = 0; i < 3; i++) await keep('org', `n${i}`, 1, { body });
  await drained();
  outbox.use(undefined, { outboxBytes: 1e9, outboxRecords: 1e6, outboxFull: 'reject', outboxDays: 7 });
  await keep('org', 'n3', 1, { body });
  const next = await store.oldest({ organizationId: 'org' });
  const refusal = { id: next?.id ?? 0, status: 400, reason: '', refusedAt: clock.now() };
  const { dropped, deadLetters } = await store.refuse({ ...refusal, maxBytes: 3000 });
  expect([dropped, deadLetters.requests]).toEqual([2, 2]);
  expect(deadLetters.bytes).toBeLessThanOrEqual(3000);
  clock.jump(7 * 24 * 3600 * 1000 + 1);
  await outbox.sweep();
  expect([count('dead_letters'), count('dropped_total', 'refused')]).toEqual([0, 2]);
});

test('a command lists them, sends them again through a gateway that runs, and drops them', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, count, dataDir, clock } = await keptFor(upstream);
  const command = async (...args: string[]) => {
    const { stdout, failed } = await adminCommand(dataDir, 'telemetry', 'dead-letters', ...args);
    return failed ?? (JSON.parse(stdout) as unknown);
  };
  upstream.answer = (_request, response) => answering(response, 400, 'not yet');
  for (const name of ['one', 'two', 'three', 'four']) await keep('org', name, 3);
  await drained();
  const listed = (await command('list', '--limit', '3')) as { id: number }[];
  expect(listed).toMatchObject([
    { organization_id: 'org', status: 400, reason: 'not yet', records: 3 },
    { records: 3 },
    { records: 3 },
  ]);
  const [one = '', two = '', three = ''] = listed.map(({ id }) => String(id));
  expect(await command('drop', two)).toEqual({ dropped: 1 });
  upstream.answer = (_request, response) => answering(response, 200);
  upstream.seen.length = 0;
  // As old as it may be: it counts as new when it is put back.
  clock.jump(7 * 24 * 3600 * 1000 - 60_000);
  expect(await command('retry', three)).toEqual({ retried: 1 });
  expect(await command('retry', '--all')).toEqual({ retried: 2 });
  // Nobody tells the gateway.
  await clock.advance(2000);
  await expect.poll(() => upstream.seen.length).toBe(3);
  await drained();
  expect(upstream.seen.map(({ headers }) => [headers['x-service-name'], headers['idempotency-key']])).toEqual(
    [
      ['three', 'key-three'],
      ['one', 'key-one'],
      ['four', 'key-four'],
    ],
  );
  expect([count('dead_letters'), count('dropped_total', 'age')]).toEqual([0, 0]);
  expect(await command('list')).toEqual([]);
  expect(await command('retry', '--all')).toEqual({ retried: 0 });
  expect(await command('drop', two)).toEqual([
    1,
    `There is no dead letter ${two}: see \`sallyport-gateway admin telemetry dead-letters list --data-dir ${dataDir}\`.`,
  ]);
  expect(await command('drop')).toEqual([
    2,
    expect.stringContaining('Give the ids of dead letters, or --all'),
  ]);
  expect(await command('retry', one, '--all')).toEqual([2, expect.stringContaining('or --all')]);
});

test('what there is no room for stays a dead letter', async () => {
  await using upstream = await scriptedUpstream();
  const { keep, drained, dataDir, store } = await keptFor(upstream);
  upstream.answer = (_request, response) => answering(response, 400);
  for (const name of ['one', 'two']) await keep('org', name);
  await drained();
  upstream.answer = (_request, response) => answering(response, 503);
  const [, two] = await store.deadLetters({ after: 0, limit: 9 });
  const flags = ['--set', 'upstream.outboxBytes=300'];
  const { failed } = await adminCommand(dataDir, 'telemetry', 'dead-letters', 'retry', '--all', ...flags);
  expect(failed).toEqual([1, expect.stringContaining(`dead letter ${two?.id} (1 wait again)`)]);
  expect(await store.deadLetters({ after: 0, limit: 9 })).toEqual([two]);
});

import { createLocalWakeups, silentLog, type Log } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import {
  createDamagedBlocks,
  createTelemetryAccountData,
  createTelemetryEngine,
} from '@sallyport/telemetry/server';
import { createRecordReads, encodeLogsRequest } from '@sallyport/telemetry/testing';
import { expect, test } from 'vitest';
import { openTelemetryStore } from '../../../test/store/telemetry-store.ts';

const sender = { accountId: 'a0', organizationId: 'org' };
const admin = { ...sender, role: 'admin' } as const;
const minute = 60_000;

function open() {
  const { db, store } = openTelemetryStore();
  const clock = new ManualClock();
  const errors: [object, string][] = [];
  const log: Log = { ...silentLog, error: (details, message) => void errors.push([details, message]) };
  const damaged = createDamagedBlocks(log);
  const engine = createTelemetryEngine({
    store,
    organizations: { isZeroDataRetention: async () => false },
    wakeups: createLocalWakeups(),
    clock,
    log,
    damaged,
    config: { retentionSeconds: 3600 },
  });
  const reads = createRecordReads(store, damaged);
  const send = (encoding: 'json' | 'protobuf', text: string, more: object = {}) => {
    const request = {
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: text } }, more] }] }],
    };
    const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeLogsRequest(request);
    return engine.ingestLogs(sender, { encoding, bytes });
  };
  return { db, store, clock, engine, reads, send, errors };
}

type Opened = ReturnType<typeof open>;
const long = 'x'.repeat(20_000);
const refused = { spanId: 'refused' };

/** Puts a block of this kind into the store. */
const kinds: Record<string, (opened: Opened) => Promise<unknown>> = {
  'JSON, plain': ({ send }) => send('json', 'x'),
  'JSON, compressed': ({ send }) => send('json', long),
  'protobuf, plain': ({ send }) => send('protobuf', 'x'),
  'protobuf, compressed': ({ send }) => send('protobuf', long),
  'a form of its own, plain': ({ send }) => send('json', 'x', refused),
  'a form of its own, compressed': ({ send }) => send('json', long, refused),
  async 'merged, plain'({ send, clock, engine }) {
    for (let times = 0; times < 3; times++) await send('json', 'x');
    await clock.advance(15 * minute);
    await engine.compact();
  },
  async 'merged, compressed'({ send, clock, engine }) {
    for (let times = 0; times < 3; times++) await send('json', long);
    await clock.advance(15 * minute);
    await engine.compact();
  },
};

/** As a disk may do it, or one who edits the file. Gives what the row has no other way to tell. */
const damages: Record<string, (row: { content: Uint8Array; summary: string }) => void> = {
  'one bit': ({ content }) => void (content[content.length >> 1]! ^= 1),
  'all bytes': ({ content }) => void content.fill(0x7b),
  'a summary, too': (row) => {
    row.content.fill(0x7b);
    row.summary = row.summary.slice(1);
  },
};

const cases = Object.keys(kinds).flatMap((kind) =>
  Object.keys(damages).map((damage) => [kind, damage] as const),
);

test.each(cases)('a damaged block is passed over, counted and told of once: %s, %s', async (kind, damage) => {
  const opened = open();
  const { db, store, clock, engine, reads, send, errors } = opened;
  await send('json', 'before');
  await clock.advance(10 * minute);
  await kinds[kind]?.(opened);
  await clock.advance(10 * minute);
  await send('protobuf', 'after');
  const [, row] = db
    .prepare('SELECT last_id, records, content, summary FROM telemetry_block ORDER BY last_id')
    .all();
  const changed = row as { last_id: number; records: number; content: Uint8Array; summary: string };
  damages[damage]?.(changed);
  const { content, summary, last_id: lastId } = changed;
  db.prepare('UPDATE telemetry_block SET content = ?, summary = ? WHERE last_id = ?').run(
    content,
    summary,
    lastId,
  );

  const texts = (records: readonly object[]) =>
    records.flatMap((record) => /before|after/.exec(JSON.stringify(record)) ?? []);
  for (const order of ['oldest', 'newest'] as const)
    expect(texts((await engine.records.list(admin, { order }, 100)).records).sort()).toEqual([
      'after',
      'before',
    ]);
  expect(texts((await engine.records.list(admin, { text: 'e' }, 100)).records)).toEqual(['after', 'before']);
  await engine.records.count(admin, { min_severity: 'error' });

  // As an export reads.
  const exported = await reads.recordsAfter({ after: 0, maxScanned: 1000, maxBytes: 2 ** 30 });
  expect(texts(exported.records)).toEqual(['before', 'after']);
  expect(exported.scannedTo).toBe((await store.recordHead()).lastId);
  const end = new AbortController();
  const tail = await engine.records.follow(admin, {}, { afterId: 0, signal: end.signal });
  const followed: object[] = [];
  for await (const record of tail.records) if (followed.push(record) === 4) break;
  end.abort();
  expect(texts(followed)).toEqual(['before', 'after']);
  const ofAccount: object[] = [];
  for await (const record of createTelemetryAccountData(store).export('a0')['telemetry'] ?? [])
    ofAccount.push(record);
  expect(texts(ofAccount)).toEqual(['before', 'after']);

  await clock.advance(20 * minute);
  await engine.compact();
  await engine.sweep();
  expect(engine.stats()).toMatchObject({ damagedBlocks: 1, expired: 0 });
  expect(errors).toEqual([
    [
      { block: lastId, records: changed.records, organizationId: 'org', err: expect.any(Error) as Error },
      expect.stringContaining('check the disk, and restore a backup') as string,
    ],
  ]);
  await clock.advance(45 * minute);
  await engine.sweep();
  expect(await store.recordHead()).toMatchObject({ records: 0, bytes: 0 });
});

test('an account that is erased takes a damaged block of several with it: nobody can tell what is in it', async () => {
  const { db, store, clock, engine } = open();
  for (const accountId of ['a0', 'a1', 'a0'])
    await engine.ingestBatch({ ...sender, accountId }, [{}], { serviceName: 'shop' });
  await clock.advance(15 * minute);
  await engine.compact();
  db.exec("UPDATE telemetry_block SET content = x'00'");
  expect(await createTelemetryAccountData(store).erase('a2')).toEqual({ telemetry: 0 });
  expect(await createTelemetryAccountData(store).erase('a1')).toEqual({ telemetry: 3 });
  expect(await store.recordHead()).toMatchObject({ records: 0, bytes: 0 });
});

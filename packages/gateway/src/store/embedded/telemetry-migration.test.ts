import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { createRecordReads } from '@sallyport/telemetry/testing';
import { expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../../../test/store/scratch.ts';
import { migrations } from './contents.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { openReader } from './reader.ts';
import { telemetryReads } from './telemetry-reads.ts';
import { openWriter } from './writer.ts';

const now = 1_800_000_000_000;
const place = migrations.findIndex(({ name }) => name === 'telemetry: blocks of records');

/** A database as the release before had it: a row a record. */
function oldDatabase(): { path: string; db: DatabaseSync } {
  const path = join(scratchDirectory(), 'store.db');
  const db = openDatabase(path);
  onTestFinished(() => db.close());
  migrate(db, migrations.slice(0, place), { now, apply: true });
  return { path, db };
}

interface OldRecord {
  readonly id: number;
  readonly accountId?: string;
  readonly receivedAt?: number;
  readonly resourceId?: number;
  readonly scopeId?: number;
  readonly skewMs?: number;
  readonly body?: string;
}

const attributes = [
  { key: 'event.name', value: { stringValue: 'a\0"ä😀' } },
  { key: 'big', value: { intValue: '9007199254740993' } },
  { key: 'ratio', value: { doubleValue: 0.1 } },
];

function insert(db: DatabaseSync, records: readonly OldRecord[]): void {
  const statement = db.prepare(
    `INSERT INTO telemetry_record (id, organization_id, account_id, service_name, received_at, event_name, time_unix_nano,
       observed_time_unix_nano, severity_number, severity_text, body, attributes, trace_id, span_id, resource_id, scope_id,
       dropped_attributes_count, flags, skew_ms, bytes)
     VALUES (?, 'org', ?, 'shop', ?, ?, ?, NULL, 9, 'info', ?, ?, ?, NULL, ?, ?, 2, 1, ?, ?)`,
  );
  db.exec('BEGIN');
  for (const { id, accountId = 'mine', receivedAt = 5, resourceId, scopeId, skewMs, body } of records)
    statement.run(
      id,
      accountId,
      receivedAt,
      'a\0"ä😀',
      `18446744073709${String(id).padStart(6, '0')}`,
      body === undefined ? null : JSON.stringify({ stringValue: body }),
      JSON.stringify(attributes),
      'ab'.repeat(16),
      resourceId ?? null,
      scopeId ?? null,
      skewMs ?? null,
      200 + (body?.length ?? 0),
    );
  db.exec('COMMIT');
}

const resource = {
  attributes: [{ key: 'k', value: { boolValue: true } }],
  droppedAttributesCount: 0,
  schemaUrl: '',
};
const scope = { ...resource, name: 'lib', version: '1' };

function expected({ id, accountId = 'mine', receivedAt = 5, resourceId, scopeId, skewMs, body }: OldRecord) {
  return {
    id,
    organizationId: 'org',
    accountId,
    serviceName: 'shop',
    receivedAt,
    skewMs: skewMs ?? null,
    resource: resourceId === undefined ? null : resource,
    scope: scopeId === undefined ? null : scope,
    eventName: 'a\0"ä😀',
    timeUnixNano: `18446744073709${String(id).padStart(6, '0')}`,
    observedTimeUnixNano: null,
    severityNumber: 9,
    severityText: 'info',
    body: body === undefined ? null : { stringValue: body },
    attributes,
    traceId: 'ab'.repeat(16),
    spanId: null,
    droppedAttributesCount: 2,
    flags: 1,
    bytes: expect.any(Number) as number,
  };
}

test('records of before are there as they were, under their ids, with their origin', async () => {
  const { path, db } = oldDatabase();
  db.prepare(
    `INSERT INTO telemetry_origin (id, organization_id, digest, content) VALUES (1, 'org', x'01', ?), (2, 'org', x'02', ?)`,
  ).run(JSON.stringify(resource), JSON.stringify(scope));
  const records: OldRecord[] = [
    { id: 3 }, // 1 and 2 have gone
    { id: 4, body: 'one' },
    { id: 5, resourceId: 1, scopeId: 2 },
    { id: 6, resourceId: 1, scopeId: 2 },
    { id: 7, resourceId: 1 },
    { id: 8, resourceId: 1, skewMs: -400_000 },
    { id: 9, accountId: 'yours' },
    { id: 11, accountId: 'yours' }, // 10 was of an account that is erased
    { id: 12, accountId: 'yours', receivedAt: 6 },
    ...Array.from({ length: 2000 }, (_, index) => ({ id: 13 + index, receivedAt: 7, body: 'x'.repeat(500) })),
  ];
  insert(db, records);
  db.exec('UPDATE telemetry_head SET last_id = 2020, records = 2009, exported_to = 5');
  migrate(db, migrations, { now, apply: true });

  const reader = openReader(path);
  onTestFinished(() => reader.close());
  const reads = createRecordReads(telemetryReads(reader));
  const all = await reads.recordsAfter({ after: 0, maxScanned: 5000, maxBytes: 2 ** 30 });
  expect(all.records).toEqual(records.map(expected));
  expect(all.scannedTo).toBe(2020);
  const blocks = db.prepare('SELECT last_id, records, length(content) AS size FROM telemetry_block').all();
  expect(blocks.slice(0, 7).map(({ last_id, records: count }) => [last_id, count])).toEqual([
    [4, 2],
    [6, 2],
    [7, 1],
    [8, 1],
    [9, 1],
    [11, 1],
    [12, 1],
  ]);
  expect(blocks.length).toBeGreaterThan(8);
  for (const { size } of blocks) expect(Number(size)).toBeLessThan(1024 * 1024);
  expect(await telemetryReads(reader).recordHead()).toEqual({
    lastId: 2020,
    exportedTo: 5,
    records: 2009,
    bytes: 2009 * 200 + 3 + 2000 * 500,
  });
  const left = db.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'telemetry_[ro][er]*'").all();
  expect(left).toEqual([]);
  // Gone, they are gone from the sums.
  db.exec('DELETE FROM telemetry_block');
  expect(await telemetryReads(reader).recordHead()).toMatchObject({ lastId: 2020, records: 0, bytes: 0 });
});

test('a database without records becomes one without blocks', async () => {
  const { path, db } = oldDatabase();
  migrate(db, migrations, { now, apply: true });
  const reader = openReader(path);
  onTestFinished(() => reader.close());
  expect(await telemetryReads(reader).recordHead()).toEqual({
    lastId: 0,
    exportedTo: 0,
    records: 0,
    bytes: 0,
  });
});

test.each([
  [99_999, []],
  [
    2_500_000,
    [
      'The database is brought up to date: 2,500,000 stored telemetry records are carried over, which may take 3 minutes ' +
        'and needs free space of two and a half times the size of the database meanwhile. Let it run: if it is ended ' +
        'before, it begins anew with the next start.',
    ],
  ],
])('what takes long is told before: %i records', async (records, expected) => {
  const { path, db } = oldDatabase();
  db.exec(`UPDATE telemetry_head SET records = ${records}`);
  const notices: string[] = [];
  const writer = await openWriter({ path, onNotice: (notice) => notices.push(notice) });
  await writer.close();
  expect(notices).toEqual(expected);
});

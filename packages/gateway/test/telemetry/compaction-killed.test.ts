import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { createTelemetryAccountData } from '@sallyport/telemetry/server';
import { createRecordReads } from '@sallyport/telemetry/testing';
import { expect, test } from 'vitest';
import { openReader } from '../../src/store/embedded/reader.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { telemetryReads } from '../../src/store/embedded/telemetry-reads.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { sendBatch, startVictim } from './victims.ts';

const isLong = process.env['SALLYPORT_LONG'] === '1';
const total = isLong ? 20_000 : 1000;
const kills = isLong ? 20 : 3;
const lanes = 8;

test(`kill -9 amid ${total} small requests that are merged as they come`, { timeout: 180_000 }, async () => {
  const directory = scratchDirectory();
  let server = await startVictim(directory, '--compacts');
  const waiting = Array.from({ length: total }, (_, index) => index);
  const acknowledged = new Set<number>();

  async function lane(): Promise<void> {
    for (let name; (name = waiting.shift()) !== undefined;)
      while (!acknowledged.has(name))
        if (await send(server.url, name).catch(() => false)) acknowledged.add(name);
        else await setTimeout(20);
  }
  const sending = Promise.all(Array.from({ length: lanes }, lane));
  for (let kill = 1; kill <= kills; kill++) {
    while (acknowledged.size < (kill * total) / (kills + 1)) await setTimeout(1);
    const before = new Set(acknowledged);
    await server.kill();
    const { names } = await contentsOf(directory);
    expect(new Set(names).size).toBe(names.length);
    expect([...before].filter((name) => !names.includes(name))).toEqual([]);
    server = await startVictim(directory, '--compacts');
  }
  await sending;
  await server.kill();
  const { names, blocks, merged } = await contentsOf(directory);
  console.log(`${total} records, ${kills} kills: ${blocks} blocks, ${merged} of them merged`);
  expect(names.sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, index) => index));
  expect(blocks).toBeLessThan(total / 2);
  expect(merged).toBeGreaterThan(10);

  const store = await openEmbeddedStore({ path: `${directory}/store.db` });
  expect(await createTelemetryAccountData(store.telemetry).erase('account')).toEqual({ telemetry: total });
  expect(await store.telemetry.recordHead()).toMatchObject({ records: 0, bytes: 0 });
  await store.close();
});

async function send(url: string, name: number): Promise<boolean> {
  const answer = await sendBatch(url, name, [{ body: { intValue: String(name) } }]);
  await answer.body?.cancel();
  return answer.status === 200;
}

/** What the killed one left: the records' names, and the blocks, which are counted right. */
async function contentsOf(directory: string) {
  const path = `${directory}/store.db`;
  const reader = openReader(path);
  const names: number[] = [];
  for await (const { body } of createRecordReads(telemetryReads(reader)).accountRecords('account'))
    names.push(Number((body as { intValue: string }).intValue));
  reader.close();
  const db = new DatabaseSync(path);
  const counted = db.prepare('SELECT records, bytes FROM telemetry_head').get();
  expect(counted).toEqual(
    db.prepare('SELECT sum(records) AS records, sum(bytes) AS bytes FROM telemetry_block').get(),
  );
  const { blocks, merged } = db
    .prepare("SELECT count(*) AS blocks, sum(form = 'merged') AS merged FROM telemetry_block")
    .get() as { blocks: number; merged: number };
  db.close();
  return { names, blocks, merged };
}

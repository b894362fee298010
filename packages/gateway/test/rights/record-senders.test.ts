import { contract, type TelemetryRecord, type TelemetryStats } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type Party, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  for (const party of ['holder', 'colleague', 'foreign'] as const)
    await world.given(contract.telemetry.logs, world.person(party).accessToken, {
      body: {
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: `${party}'s` } }] }] }],
      },
    });
});
afterAll(() => world.close());

const email = (party: Party) => `${party === 'holder' ? 'holders-own' : party}@example.com`;
const queryFor = (address: string, more = '') => `?account_email=${encodeURIComponent(address)}${more}`;
const textsOf = (records: readonly TelemetryRecord[]) =>
  records.map(({ record }) => record.body?.stringValue);

function given<T>(party: Party, endpoint: 'query' | 'stats', query: string): Promise<T> {
  return world.given<T>(contract.telemetry[endpoint], world.person(party).accessToken, { query });
}

/** What `party` gets by that query, as a list and counted. */
async function read(party: Party, query: string) {
  const texts = textsOf(await given<TelemetryRecord[]>(party, 'query', query));
  const { total } = await given<TelemetryStats>(party, 'stats', query);
  expect(total, query).toBe(texts.length);
  return texts;
}

/** The first record that `party` is shown of those that were there before. */
async function firstOfTail(party: Party, query: string): Promise<TelemetryRecord> {
  const leaving = new AbortController();
  const answer = await fetch(`${world.url}/v1/logs/stream${query}&from_id=0`, {
    headers: { authorization: `Bearer ${world.person(party).accessToken}` },
    signal: leaving.signal,
  });
  let text = '';
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    const [, data] = /^id: \d+\ndata: (.*)\n\n/m.exec((text += piece)) ?? [];
    if (data === undefined) continue;
    leaving.abort();
    return JSON.parse(data) as TelemetryRecord;
  }
  throw new Error('the stream ended');
}

test('an e-mail address, in either case, names whose records are meant; nobody’s are none', async () => {
  const { accountId } = world.person('colleague');
  expect(await read('admin', queryFor(email('colleague')))).toEqual(["colleague's"]);
  expect(await read('admin', queryFor(email('colleague').toUpperCase()))).toEqual(["colleague's"]);
  expect(await read('admin', queryFor(email('colleague'), `&account_id=${accountId}`))).toHaveLength(1);
  expect(await read('admin', queryFor(email('holder'), `&account_id=${accountId}`))).toEqual([]);
  for (const nobody of [email('foreign'), 'nobody@example.com'])
    expect(await read('admin', queryFor(nobody))).toEqual([]);
  const refused = await world.call(contract.telemetry.query, world.person('admin').accessToken, {
    query: queryFor('me'),
  });
  expect(refused.status).toBe(400);
});

test('others’ are read by admins of their organization alone, whether there are any or not', async () => {
  const since = '&from=2026-01-01T00:00:00Z';
  expect(await read('holder', queryFor(email('holder'), since))).toEqual(["holder's"]);
  for (const [party, asked] of [
    ['holder', email('colleague')],
    ['holder', 'nobody@example.com'],
    ['viewer', email('holder')],
    ['foreign', email('holder')],
  ] as const)
    expect(await read(party, queryFor(asked, since)), `${party} of ${asked}`).toEqual([]);
});

test('each record says whose it is, in lists and as it comes', async () => {
  const records = await given<TelemetryRecord[]>('admin', 'query', '?order=oldest');
  expect(records.map((record) => [record.account_id, record.account_email])).toEqual(
    (['holder', 'colleague'] as const).map((party) => [world.person(party).accountId, email(party)]),
  );
  expect(await firstOfTail('admin', queryFor(email('colleague')))).toMatchObject({
    account_id: world.person('colleague').accountId,
    account_email: email('colleague'),
    record: { body: { stringValue: "colleague's" } },
  });
});

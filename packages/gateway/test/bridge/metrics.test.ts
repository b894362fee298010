import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** What a gateway tells of the bridge, telemetry and the store, by name and labels. */
async function scrape(settings: Readonly<Record<string, unknown>> = {}): Promise<Map<string, number>> {
  const { config } = loadConfig({
    env: {},
    flags: { port: 0, dataDir: scratchDirectory(), ...settings },
  });
  const gateway = await startGateway({ config });
  onTestFinished(() => gateway.close());
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const lines = text
    .split('\n')
    .filter((line) => /^sallyport_(work|environ|h|telemetry_rec|store)/.test(line));
  return new Map(lines.map((line) => line.split(' ')).map(([name = '', value]) => [name, Number(value)]));
}

test('what is queued, open and there is told also where it is none; the store tells of its commits', async () => {
  const samples = await scrape();
  const names = [
    ...['work_items{state="queued"}', 'work_items{state="delivered"}', 'work_items{state="active"}'],
    ...['work_items{state="stopping"}', 'work_items{state="lost"}'],
    ...['environments{status="online"}', 'environments{status="disconnected"}'],
    ...['environments{status="offline"}', 'worker_streams', 'hint_streams', 'held_polls'],
  ];
  for (const name of names) expect([name, samples.get(`sallyport_${name}`)]).toEqual([name, 0]);
  expect([...samples.keys()].filter((name) => name.includes('work_items'))).toHaveLength(5);
  // What waits is what a gateway that has just begun is about.
  for (const name of ['store_waiting_acts', 'store_waiting_bytes'])
    expect(samples.get(`sallyport_${name}`)).toBeGreaterThanOrEqual(0);
  // The owner was made.
  const commits = samples.get('sallyport_store_commits_total');
  expect(commits).toBeGreaterThan(0);
  expect(samples.get('sallyport_store_acts_total')).toBeGreaterThanOrEqual(commits ?? 0);
  expect(samples.get('sallyport_store_commit_seconds_count')).toBe(commits);
  expect(samples.get('sallyport_store_commit_seconds_sum')).toBeGreaterThan(0);
});

test('of areas that are served elsewhere nothing is told', async () => {
  const samples = await scrape({ upstream: 'http://127.0.0.1:9' });
  expect([...samples.keys()].filter((name) => !name.includes('_store_'))).toEqual([]);
  expect(samples.has('sallyport_store_waiting_acts')).toBe(true);
});

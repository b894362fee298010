import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startProgram } from '../start-program.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventsIn } from './outbox-harness.ts';
import { until } from './raw-upstream.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

// What a gateway has accepted for an upstream outlives it.
vi.setConfig({ testTimeout: 60_000 });

/** A batch of events of those names, of the organization `of-X`. */
function batch(url: string, names: readonly string[], token = 'access'): Promise<Response> {
  return fetch(`${url}/api/event_logging/v2/batch`, {
    method: 'POST',
    body: JSON.stringify({ events: names.map((eventName) => ({ severityNumber: 9, eventName })) }),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-service-name': 'test',
    },
  });
}

test('kill -9 loses nothing that was accepted', async () => {
  const directory = scratchDirectory();
  const gone = await scriptedUpstream();
  await gone[Symbol.asyncDispose]();
  const port = Number(new URL(gone.url).port);
  const first = await victim(directory, gone.url);
  const accepted: string[] = [];
  for (let i = 0; i < 30; i++) {
    expect((await batch(first.url, [`n${i}`])).status).toBe(200);
    accepted.push(`n${i}`);
  }
  await first.kill();
  await using upstream = await scriptedUpstream(port);
  const second = await victim(directory, upstream.url);
  await until(() => upstream.seen.length >= accepted.length);
  expect(upstream.seen.flatMap(({ body }) => eventsIn(body))).toEqual(accepted);
  await second.kill();
});

test('kill -9 while queues are sent, halved and put aside loses nothing that was accepted', async () => {
  const directory = scratchDirectory();
  await using upstream = await scriptedUpstream();
  const taken = new Set<string>();
  let isUp = false;
  let calls = 0;
  upstream.answer = ({ body }, response) => {
    const all = eventsIn(body);
    if (!isUp && calls++ % 3 === 0) return void response.destroy();
    if (all.length > 2) return void response.writeHead(413).end('{}');
    if (all.some((name) => name.endsWith('bad'))) return void response.writeHead(400).end('{}');
    for (const name of all) taken.add(name);
    response.end('{}');
  };
  const accepted: string[] = [];
  for (let round = 0; round < 2; round++) {
    isUp = false;
    const { url, kill } = await victim(directory, upstream.url);
    let answered = 0;
    // However many the upstream refuses to their senders' faces, each goes on until the gateway is gone.
    const sending = Array.from({ length: 9 }, async (_, sender) => {
      for (let i = sender; ; i += 9) {
        const names = [0, 1, 2, 3].map((n) => `${round}.${i}.${n === 3 && i % 5 === 0 ? 'bad' : n}`);
        const response = await batch(url, names, `of-${i % 3}`).catch(() => undefined);
        if (response === undefined) return;
        if (!response.ok) continue;
        accepted.push(...names);
        answered++;
      }
    });
    await until(() => answered >= 25 + round * 5);
    await kill();
    await Promise.all(sending);
  }
  expect(accepted.length).toBeGreaterThanOrEqual(4 * (25 + 30));
  isUp = true;
  const last = await victim(directory, upstream.url);
  const db = new DatabaseSync(join(directory, 'store.db'), { readOnly: true });
  onTestFinished(() => db.close());
  const waiting = db.prepare('SELECT requests FROM telemetry_outbox_head');
  await expect.poll(() => waiting.get(), { timeout: 30_000 }).toEqual({ requests: 0 });
  const letters = db.prepare('SELECT body FROM telemetry_dead_letter').all();
  const aside = letters.flatMap(({ body }) => eventsIn(Buffer.from(body as Uint8Array)));
  expect(aside.length).toBeGreaterThan(0);
  expect(accepted.filter((name) => !taken.has(name) && !aside.includes(name))).toEqual([]);
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  await last.kill();
});

function victim(directory: string, upstream: string) {
  return startProgram(join(import.meta.dirname, 'outbox-victim.ts'), directory, upstream);
}

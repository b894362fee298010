import type { Execution, Executor, Exit } from '@sallyport/bridge';
import { streamSession, type ClientOptions } from '@sallyport/core/client';
import type { SessionEvent } from '@sallyport/core/contract';
import { seededRandom } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { breakingLine } from './breaking-line.ts';
import { runBridge } from './run-bridge.ts';
import { createSession, serveBridge } from './serve-bridge.ts';

// With SALLYPORT_LONG=1 at every byte, and as often as the issues had it (CowAgent 3014, vayu#21).
const isLong = process.env['SALLYPORT_LONG'] === '1';
const ample = isLong ? 600_000 : 60_000;

const text = 'x'.repeat(300);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Notes come over the line twice; of the connections that bear them three may be whole at the end. */
const leastCuts = (notes: number, most: number) => Math.ceil((2 * notes * text.length) / most) - 3;

/** Random budgets, the same in each run. */
function budgets(least: number, most: number) {
  const random = seededRandom(7);
  return () => least + Math.floor(random.fraction() * (most - least));
}

/** A session's process that does what it is told, in this very process. */
function executor(take: (event: SessionEvent, end: () => void) => void): Executor {
  return (): Execution => {
    const { promise: ended, resolve } = Promise.withResolvers<Exit>();
    return {
      pid: undefined,
      ended,
      deliver(event) {
        take(event, () => resolve({ exitCode: 0, signal: null }));
        return undefined;
      },
      endInput: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      signal: (signal) => resolve({ exitCode: null, signal }),
    };
  };
}

/** Says `count` notes at once, as soon as it is spoken to: more than the line bears at a time. */
const talker =
  (count: number): Executor =>
  (job) =>
    executor(({ type }, end) => {
      if (type !== 'session.message') return;
      for (const n of numbers(count)) job.emit('note', { n, text });
      end();
    })(job);

async function sessionOver(budget: () => number, run: Executor) {
  const line = await breakingLine(budget);
  // Work whose grant was cut off comes again after `ackSeconds`, so many times; the budget grows only then.
  const config = { ackSeconds: 1, sweepSeconds: 0.25, maxDeliveries: 1_000 };
  const bridge = await serveBridge({ apiBaseUrl: line.url, config });
  line.leadTo(bridge.url);
  const options = { ...bridge.clientOptions, baseUrl: line.url };
  const { until } = runBridge({ ...options, run, interactive: true });
  const { environmentId } = await until('registered');
  const { id } = await createSession(bridge, environmentId, [
    { type: 'session.message', data: { text: 'go' } },
  ]);
  return { line, bridge, options, id, until };
}

/** Reads a session to its end, over as many streams as that takes. */
async function readAll(options: ClientOptions, id: string, signal: AbortSignal): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (;;) {
    const fromSeq = events.at(-1)?.seq ?? 0;
    try {
      for await (const frame of streamSession(options, id, { fromSeq, signal })) {
        if (frame.kind === 'event') events.push(frame.event);
        if (events.at(-1)?.data['status'] === 'done') return events;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // It broke: on from there.
    }
  }
}

function expectOnce(events: readonly SessionEvent[], count: number): void {
  expect(events.map(({ seq }) => seq)).toEqual(numbers(events.length));
  const notes = events.filter(({ type }) => type === 'note');
  expect(notes.map(({ data }) => data['n'])).toEqual(numbers(count));
}

test(
  'over a line that breaks all the time every event is in the log once, and read once',
  async ({ signal }) => {
    const count = 150;
    const most = 17_000;
    const { line, options, id } = await sessionOver(budgets(2_000, most), talker(count));
    expectOnce(await readAll(options, id, signal), count);
    expect(line.cuts).toBeGreaterThanOrEqual(leastCuts(count, most));
  },
  ample,
);

test(
  'whichever byte of a conversation is its last, the next connection goes on behind it',
  async ({ signal }) => {
    let budget = 0;
    const step = isLong ? 1 : 53;
    const { line, bridge, id, until } = await sessionOver(() => (budget += step), talker(5));
    await until('session.ended');
    expectOnce(await readAll(bridge.clientOptions, id, signal), 5);
    expect(line.cuts).toBeGreaterThan(1_000 / step);
  },
  ample,
);

test(
  'a log that is read while it grows, by a follower and by a worker, over streams cut at random',
  async ({ signal }) => {
    const count = isLong ? 10_000 : 100;
    const most = isLong ? 11_900 : 8_000;
    const taken: SessionEvent[] = [];
    const worker = executor((event, end) => {
      taken.push(event);
      if (event.type === 'end') end();
    });
    const { line, bridge, options, id } = await sessionOver(budgets(isLong ? 6_000 : 1_500, most), worker);
    const following = readAll(options, id, signal);
    const append = (events: readonly object[]) =>
      bridge.client.sessions.append({ params: { id }, body: { events: events as never } });
    for (let from = 0; from < count; from += 100)
      await append(numbers(100).map((n) => ({ type: 'note', data: { n: from + n, text } })));
    await append([{ type: 'end', data: {} }]);
    const followed = await following;
    expectOnce(followed, count);
    const notes = taken.filter(({ type }) => type === 'note');
    expect(notes.map(({ data }) => data['n'])).toEqual(numbers(count));
    expect(line.cuts).toBeGreaterThanOrEqual(leastCuts(count, most));
  },
  ample,
);

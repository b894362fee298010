import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventQueue, type Queueable } from './queue.ts';

interface QueuedEvent extends Queueable {
  readonly json: string;
}

const event = (json: string, severity = 9, bytes = 1): QueuedEvent => ({ json, severity, bytes });
const jsons = (events: readonly QueuedEvent[]) => events.map(({ json }) => json);

test('gives events in the order in which they came, whatever their severity', () => {
  const queue = new EventQueue<QueuedEvent>({ maxEvents: 10, maxBytes: 100 });
  for (const [index, severity] of [9, 17, 1, 21, 9].entries()) queue.push(event(String(index), severity));
  expect(jsons(queue.take(3, 100))).toEqual(['0', '1', '2']);
  expect(jsons(queue.take(3, 100))).toEqual(['3', '4']);
});

test('errors outlive what surrounds them; among equals the oldest goes', () => {
  const queue = new EventQueue<QueuedEvent>({ maxEvents: 3, maxBytes: 100 });
  for (const [json, severity] of [
    ['i1', 9],
    ['e1', 17],
    ['i2', 9],
    ['d1', 5],
    ['i3', 9],
    ['e2', 17],
    ['e3', 17],
  ] as const)
    queue.push(event(json, severity));
  expect(jsons(queue.take(10, 100))).toEqual(['e1', 'e2', 'e3']);
});

test('takes by bytes, at least one, and not beyond a place', () => {
  const queue = new EventQueue<QueuedEvent>({ maxEvents: 10, maxBytes: 1000 });
  for (const json of ['a', 'b', 'c']) queue.push(event(json, 9, 100));
  const upTo = queue.lastSeq;
  queue.push(event('d', 9, 100));
  expect(jsons(queue.take(10, 10))).toEqual(['a']);
  expect(jsons(queue.take(10, 1000, upTo))).toEqual(['b', 'c']);
  expect(jsons(queue.take(10, 1000, upTo))).toEqual([]);
  expect(queue.length).toBe(1);
});

/** The same by the plainest means: one list, searched through. */
class Model {
  waiting: QueuedEvent[] = [];
  push(one: QueuedEvent, maxEvents: number, maxBytes: number): number {
    this.waiting.push(one);
    let evicted = 0;
    const range = ({ severity }: QueuedEvent) => Math.max(0, Math.ceil(severity / 4) - 1);
    while (this.waiting.length > maxEvents || this.bytes > maxBytes) {
      const least = Math.min(...this.waiting.map(range));
      this.waiting.splice(
        this.waiting.findIndex((each) => range(each) === least),
        1,
      );
      evicted += 1;
    }
    return evicted;
  }
  get bytes(): number {
    return this.waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

test('behaves as a plain list would, and keeps its bounds', () => {
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        severity: fc.integer({ min: 0, max: 24 }),
        bytes: fc.integer({ min: 1, max: 60 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 8 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 12 }), (steps, maxEvents) => {
      const maxBytes = 200;
      const queue = new EventQueue<QueuedEvent>({ maxEvents, maxBytes });
      const model = new Model();
      for (const [index, one] of steps.entries()) {
        if ('take' in one) {
          expect(jsons(queue.take(one.take, Infinity))).toEqual(jsons(model.waiting.splice(0, one.take)));
        } else {
          const pushed = event(String(index), one.severity, one.bytes);
          expect(queue.push(pushed)).toBe(model.push(pushed, maxEvents, maxBytes));
        }
        expect([queue.length, queue.bytes]).toEqual([model.waiting.length, model.bytes]);
      }
    }),
  );
});

test('stays in order over many more events than its inner parts hold', () => {
  const queue = new EventQueue<QueuedEvent>({ maxEvents: 5000, maxBytes: Infinity });
  const taken: string[] = [];
  for (let index = 0; index < 20_000; index += 1) {
    queue.push(event(String(index)));
    if (index % 3 === 0) taken.push(...jsons(queue.take(3, Infinity)));
  }
  taken.push(...jsons(queue.take(Infinity, Infinity)));
  expect(taken).toEqual(Array.from({ length: 20_000 }, (_, index) => String(index)));
});

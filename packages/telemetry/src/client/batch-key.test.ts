import { expect, test } from 'vitest';
import { Packer } from './batch.ts';
import { batchKey } from './batch-key.ts';

const events = Array.from({ length: 6 }, (_none, index) => `{"id":${index}}`);

function keysOf(lines: readonly string[], maxEvents = 50): string[] {
  return new Packer({ maxEvents, maxBytes: 1000 }).packLines(lines).map(batchKey);
}

test('the same events make the same key, which a header takes', () => {
  expect(keysOf(events)).toEqual(keysOf([...events]));
  expect(keysOf(events)[0]).toMatch(/^[\w-]{43,80}$/);
});

test('what may be left of a batch has a key of its own, whichever way it was cut', () => {
  const cuts = events.map((_none, index) => events.toSpliced(index, 1));
  const halves = [events.slice(0, 3), events.slice(3)];
  const keys = [events, ...cuts, ...halves].flatMap((lines) => keysOf(lines));
  keys.push(...keysOf(events, 4));
  expect(new Set(keys).size).toBe(keys.length);
});

test('events that differ in one character make another key', () => {
  const changed = events.map((event) => event.replace('5', '7'));
  expect(keysOf(changed)).not.toEqual(keysOf(events));
});

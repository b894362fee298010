import type { SessionEvent } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { PlaceInLog } from './place-in-log.ts';
import { logEvent } from './testing/fake-service.ts';

const event = (seq: number, type = 'note') => logEvent(seq, type) as SessionEvent;

function reader() {
  const taken: number[] = [];
  const room = { isThere: true };
  const place = new PlaceInLog(({ seq, type }) => {
    if (type !== 'control.stop' && !room.isThere) return false;
    taken.push(seq);
    return true;
  });
  return { place, taken, room };
}

test('each event is taken once, whatever a stream repeats', () => {
  const { place, taken } = reader();
  expect([1, 2, 2, 1, 3].map((seq) => place.reach(event(seq)))).toEqual([true, true, false, false, true]);
  expect(place.resume()).toBe(3);
  expect(taken).toEqual([1, 2, 3]);
});

test('after one that was not taken none is until a new stream brings them again; a stop is heeded at once', () => {
  const { place, taken, room } = reader();
  place.reach(event(1));
  room.isThere = false;
  expect(place.reach(event(2))).toBe(false);
  room.isThere = true;
  expect(place.reach(event(3))).toBe(false);
  expect(place.reach(event(4, 'control.stop'))).toBe(false);
  expect(taken).toEqual([1, 4]);
  expect(place.isSkipping).toBe(true);
  expect(place.resume()).toBe(1);
  for (const seq of [2, 3, 4]) expect(place.reach(event(seq))).toBe(true);
  expect(taken).toEqual([1, 4, 2, 3, 4]);
});

test('a log that was trimmed goes on where it says; what makes no sense changes nothing', () => {
  const { place, taken } = reader();
  place.resync(Number.NaN);
  place.resync(5);
  expect(place.resume()).toBe(4);
  expect(place.reach({ ...event(5), data: null } as unknown as SessionEvent)).toBe(false);
  expect(place.reach({ ...event(5), seq: 'five' } as unknown as SessionEvent)).toBe(false);
  expect(place.reach(event(5))).toBe(true);
  expect(taken).toEqual([5]);
});

import { expect, test } from 'vitest';
import { createIds, isId } from './ids.ts';
import { systemRandom } from './random.ts';
import { ManualClock, seededRandom } from './testing/index.ts';

test('ids sort by the time at which they were made', async () => {
  const clock = new ManualClock();
  const ids = createIds(clock, seededRandom());
  const made: string[] = [];
  for (let i = 0; i < 100; i += 1) {
    made.push(ids.next('evt'));
    await clock.advance(1);
  }
  expect([...made].sort()).toEqual(made);
  expect(new Set(made).size).toBe(100);
  for (const id of made) expect(isId('evt', id)).toBe(true);
});

test('a UUID is of version 4', () => {
  const ids = createIds(new ManualClock(), systemRandom);
  expect(ids.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test.each(['', 'env_', 'env_/../x', 'env_a b', 'work_01', `env_${'a'.repeat(129)}`, 'env_é'])(
  '%j is no environment id',
  (id) => {
    expect(isId('env', id)).toBe(false);
  },
);

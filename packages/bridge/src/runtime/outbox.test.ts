import { expect, test } from 'vitest';
import { Outbox } from './outbox.ts';

const idOf = (frame: string) => (JSON.parse(frame) as { id: string }).id;

test('what is not acknowledged goes out again over the next stream, in order, and only that', () => {
  const outbox = new Outbox(() => undefined);
  const first: string[] = [];
  outbox.push('a', 't', {});
  outbox.attach((frame) => first.push(idOf(frame)));
  outbox.push('b', 't', {});
  outbox.push('c', 't', {});
  expect(first).toEqual(['a', 'b', 'c']);
  outbox.acknowledge('a');
  outbox.acknowledge('a');
  outbox.detach();
  outbox.push('d', 't', {});
  const second: string[] = [];
  outbox.attach((frame) => second.push(idOf(frame)));
  expect(second).toEqual(['b', 'c', 'd']);
  expect(first).toEqual(['a', 'b', 'c']);
});

test('it is full above 1 MiB and has room again below 256 KiB', () => {
  const changes: boolean[] = [];
  const outbox = new Outbox((isFull) => changes.push(isFull));
  const data = { text: 'x'.repeat(100 * 1024) };
  for (let n = 0; n < 10; n += 1) outbox.push(`e${n}`, 't', data);
  expect(changes).toEqual([]);
  outbox.push('e10', 't', data);
  expect(changes).toEqual([true]);
  for (let n = 0; n < 8; n += 1) outbox.acknowledge(`e${n}`);
  expect(changes).toEqual([true]);
  outbox.acknowledge('e8');
  expect(changes).toEqual([true, false]);
  outbox.acknowledge('e9');
  outbox.acknowledge('e10');
  expect(outbox.bytes).toBe(0);
});

test('`settled` waits for the acknowledgement of that event', async () => {
  const outbox = new Outbox(() => undefined);
  outbox.push('a', 't', {});
  let isSettled = false;
  const settled = outbox.settled('a').then(() => (isSettled = true));
  outbox.acknowledge('other');
  await Promise.resolve();
  expect(isSettled).toBe(false);
  outbox.acknowledge('a');
  await settled;
  await outbox.settled('a');
});

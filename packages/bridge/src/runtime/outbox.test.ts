import { describe, expect, test } from 'vitest';
import { Outbox } from './outbox.ts';

const idOf = (frame: string) => (JSON.parse(frame) as { id: string }).id;

/** A stream on the outbox: the ids that were sent on it. */
const stream = (outbox: Outbox) => {
  const ids: string[] = [];
  outbox.detach();
  outbox.attach((frame) => ids.push(idOf(frame)));
  return ids;
};

test('what is not acknowledged goes out again over the next stream, in order, and only that', () => {
  const outbox = new Outbox(() => undefined);
  outbox.push('a', 't', {});
  const first = stream(outbox);
  outbox.push('b', 't', {});
  outbox.push('c', 't', {});
  expect(first).toEqual(['a', 'b', 'c']);
  outbox.acknowledge('a');
  outbox.acknowledge('a');
  outbox.detach();
  outbox.push('d', 't', {});
  const second = stream(outbox);
  for (const id of ['b', 'c', 'd']) outbox.acknowledge(id);
  expect(second).toEqual(['b', 'c', 'd']);
  expect(first).toEqual(['a', 'b', 'c']);
});

test('after a stream that broke the next begins with half of what that got through, and grows', () => {
  const outbox = new Outbox(() => undefined);
  const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
  for (const id of ids) outbox.push(id, 't', {});
  expect(stream(outbox)).toEqual(ids); // of nothing it is known how much it bears
  const second = stream(outbox);
  const rounds = [second.length];
  for (let from = 0; rounds.length < 4; rounds.push(second.length - from)) {
    const until = second.length;
    for (const id of second.slice(from)) outbox.acknowledge(id);
    from = until;
  }
  expect(rounds).toEqual([1, 2, 4, 8]); // seven of these are acknowledged
  expect(stream(outbox)).toEqual(['e7', 'e8', 'e9']);
  expect(stream(outbox)).toEqual(['e7']);
  for (const id of ids) outbox.acknowledge(id);
  const healthy = stream(outbox); // nothing was under way on the last
  for (const id of ids) outbox.push(`${id} again`, 't', {});
  expect(healthy).toHaveLength(ids.length);
});

test.each([300, 1_000, 17_000])('a line that bears %i bytes at a time gets all of it through', (most) => {
  const outbox = new Outbox(() => undefined);
  const text = 'x'.repeat(100);
  for (let n = 0; n < 500; n += 1) outbox.push(`e${n}`, 't', { text });
  const log = new Set<string>();
  let streams = 0;
  while (outbox.bytes > 0) {
    streams += 1;
    let left = most;
    let sent: string[] = [];
    const carries = (bytes: number) => (left -= bytes) >= 0;
    outbox.attach((frame) => {
      if (carries(frame.length)) sent.push(idOf(frame));
    });
    // Acknowledgements come back after all that was sent meanwhile.
    while (sent.length > 0 && left >= 0) {
      const arrived = sent;
      sent = [];
      for (const id of arrived) {
        log.add(id);
        if (carries(50)) outbox.acknowledge(id);
      }
    }
    outbox.detach();
    expect(streams).toBeLessThan(600);
  }
  expect([...log]).toEqual(Array.from({ length: 500 }, (_, n) => `e${n}`));
});

test('it is full above 1 MiB and has room again below 256 KiB', () => {
  const changes: boolean[] = [];
  const outbox = new Outbox((isFull) => changes.push(isFull));
  stream(outbox);
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
  stream(outbox);
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

describe('a line that comes while others are under way', () => {
  const line = (text: string, stream = 'stdout') => ({ stream, text });
  const sent: { id: string; data: Record<string, unknown> }[] = [];
  const busy = () => {
    sent.length = 0;
    const outbox = new Outbox(() => undefined);
    outbox.attach((frame) => sent.push(JSON.parse(frame) as (typeof sent)[number]));
    outbox.push('first', 'session.output', line('at once'));
    return outbox;
  };
  const texts = () => sent.map(({ data }) => data['text']);

  test('waits for those and shares its event', () => {
    const outbox = busy();
    for (const text of ['a', '', 'c']) outbox.push(text, 'session.output', line(text));
    expect(texts()).toEqual(['at once']);
    outbox.acknowledge('first');
    expect(texts()).toEqual(['at once', 'a\n\nc']);
    outbox.acknowledge('a');
    expect(outbox.bytes).toBe(0);
    outbox.push('d', 'session.output', line('d'));
    expect(texts()).toEqual(['at once', 'a\n\nc', 'd']);
  });

  test.each([
    ['another event', 'tool.call', {}],
    ['a line of the other stream', 'session.output', line('x', 'stderr')],
    ['a part of a line', 'session.output', { ...line('x'), partial: true }],
    ['bytes', 'session.output', { stream: 'stdout', base64: 'AA==' }],
    ['more than an event holds', 'session.output', line('x'.repeat(64 * 1024))],
  ])('does not share it with %s, which comes after', (_, type, data) => {
    const outbox = busy();
    outbox.push('a', 'session.output', line('a'));
    outbox.push('x', type, data);
    outbox.push('b', 'session.output', line('b'));
    for (const id of ['first', 'a', 'x', 'b']) outbox.acknowledge(id);
    expect(sent.map(({ id }) => id)).toEqual(['first', 'a', 'x', ...(sent.length === 4 ? ['b'] : [])]);
    expect(sent[1]?.data['text']).toBe('a');
    expect(JSON.stringify(sent.at(-1)).endsWith('b"}}')).toBe(true);
    expect(outbox.bytes).toBe(0);
  });
});

test('an event that is too large for a frame is cut, and says so', () => {
  const outbox = new Outbox(() => undefined);
  const frames: string[] = [];
  outbox.attach((frame) => frames.push(frame));
  outbox.push('a', 'tool.result', { content: 'x'.repeat(2 ** 20) });
  outbox.push('b', 'note', { text: '\0'.repeat(2 ** 20), more: 'y' });
  const [first = '', second = ''] = frames;
  expect(JSON.parse(first)).toEqual({
    id: 'a',
    type: 'tool.result',
    data: { truncated: true, bytes: 2 ** 20 + 53 },
  });
  expect(JSON.parse(second)).toMatchObject({ data: { text: '\0'.repeat(2 ** 17), truncated: true } });
  expect(second.length).toBeLessThan(2 ** 20);
});

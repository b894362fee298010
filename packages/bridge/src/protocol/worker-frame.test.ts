import { expect, test } from 'vitest';
import { readWorkerFrame } from './worker-frame.ts';

const read = (frame: unknown) => readWorkerFrame(JSON.stringify(frame));

test('what has an id is an event', () => {
  expect(read({ id: 'a', type: 'note', data: { n: 1 } })).toEqual({
    kind: 'event',
    event: { id: 'a', type: 'note', data: { n: 1 } },
  });
  expect(read({ id: 'a', type: 'note', n: 1 })).toEqual({
    kind: 'event',
    event: { id: 'a', type: 'note', data: { n: 1 } },
  });
});

test('what has none is of the moment', () => {
  expect(read({ type: 'ack', seq: 3 })).toEqual({ kind: 'frame', frame: { type: 'ack', seq: 3 } });
  expect(read({ type: 'auth', token: 't' })).toEqual({ kind: 'frame', frame: { type: 'auth', token: 't' } });
  expect(read({ type: 'worker.heartbeat', n: 1 })).toMatchObject({ kind: 'frame' });
  expect(read({ type: 'typing' })).toEqual({ kind: 'ignored' });
});

test.each([
  ['not JSON', '{"type":'],
  ['no object', '[]'],
  ['null', 'null'],
  ['no type', '{}'],
  ['a type that is no string', '{"type":1}'],
  ['an empty id', '{"type":"note","id":""}'],
  ['a long id', JSON.stringify({ type: 'note', id: 'x'.repeat(129) })],
  ['an id that is no string', '{"type":"note","id":1}'],
  ['data that is no object', '{"type":"note","id":"a","data":[]}'],
  ['an ack without a number', '{"type":"ack","seq":"1"}'],
  ['an auth without a token', '{"type":"auth"}'],
  ["an event of the service's", '{"type":"session.updated","id":"a"}'],
  ['an event named like a frame', '{"type":"ack","id":"a","seq":1}'],
])('a frame with %s is bad', (_, text) => {
  expect(readWorkerFrame(text)).toMatchObject({ kind: 'bad' });
});

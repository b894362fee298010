import { reasonOf } from '@sallyport/core';
import { expect, test, vi } from 'vitest';
import { emit, makeBatcher, names, scratch } from '../../test/batcher.ts';
import { startSink } from '../../test/sink.ts';
import type { TelemetryBatcher } from './batcher.ts';

test('a login that does not come holds events back, but not for ever', async () => {
  const sink = await startSink();
  let isStuck = true;
  const token = () => (isStuck ? new Promise<string>(() => undefined) : Promise.resolve('token'));
  const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, tokens: { token } });
  emit(batcher, 1);
  const flushed = batcher.flush();
  await clock.advance(30_000);
  expect(await flushed).toEqual({ sent: 0, spooled: 0, dropped: 0, waiting: 1 });
  isStuck = false;
  emit(batcher, 1, 1);
  await clock.advance(5 * 60_000);
  await batcher.flush();
  expect(sink.names()).toEqual(names(2));
});

test.each([
  ['throws', () => Promise.reject(new Error('no'))],
  [
    'throws at once',
    () => {
      throw new Error('no');
    },
  ],
  ['gives what no header can have', () => Promise.resolve('a\r\nx: y')],
  ['gives what is no text', () => Promise.resolve(Object.create(null) as string)],
])('events are kept where the login %s', async (_, token) => {
  const sink = await startSink();
  const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, tokens: { token } });
  emit(batcher, 1);
  expect(await batcher.flush()).toMatchObject({ dropped: 0, waiting: 1 });
  expect(sink.requests).toEqual([]);
});

test('a login that asks for a flush, or reports, does not wait for itself', async () => {
  const sink = await startSink();
  const made: { batcher?: TelemetryBatcher } = {};
  const token = async () => {
    made.batcher?.report({ name: 'login' });
    await made.batcher?.flush();
    return 'token';
  };
  const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, tokens: { token } });
  made.batcher = batcher;
  emit(batcher, 1);
  expect(await batcher.flush()).toMatchObject({ sent: 1 });
  expect(sink.names()).toEqual(names(1));
});

test.each([
  ['a wrong address', { baseUrl: 'nonsense' }, 'Invalid URL'],
  ['a service that is not there', { baseUrl: 'http://127.0.0.1:1' }, 'connection refused'],
  ['a refusal', { status: 403 }, 'not today'],
])('why nothing arrives is told: %s', async (_, { baseUrl, status = 200 }: Partial<Wrong>, why) => {
  const sink = await startSink(() => ({ status, body: { error: 'x', error_description: 'not today' } }));
  const errors: string[] = [];
  const onError = (error: unknown) => {
    errors.push(reasonOf(error));
    throw new Error('of the hook');
  };
  const { batcher } = makeBatcher({ baseUrl: baseUrl ?? sink.baseUrl, onError });
  emit(batcher, 1);
  await batcher.flush();
  expect(errors).toEqual([expect.stringContaining(why)]);
});

test('an attempt that the end of the program cuts off is no trouble, nor is a login that nobody has', async () => {
  const sink = await startSink(() => 'hang');
  const onError = vi.fn();
  const { spoolDir } = scratch();
  const tokens = { token: () => Promise.reject(new Error('no login')) };
  const { batcher: nobodys } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, onError, tokens });
  emit(nobodys, 1);
  await nobodys.flush();
  const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, onError });
  emit(batcher, 1);
  const ended = batcher.shutdown();
  await expect.poll(() => sink.requests.length).toBe(1);
  await clock.advance(1500);
  expect(await ended).toMatchObject({ spooled: 1 });
  expect(onError).not.toHaveBeenCalled();
});

interface Wrong {
  readonly baseUrl: string;
  readonly status: number;
}

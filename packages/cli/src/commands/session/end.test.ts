import type { SessionEvent } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { endWatch, whyEnded } from './end.ts';

const event = (type: string, data: SessionEvent['data']): SessionEvent => ({
  id: 'evt_1',
  seq: 1,
  type,
  session_id: 's',
  created_at: 'now',
  data,
});

test('the signal that ended the process is told with the end, though only the worker names it', () => {
  const endOf = endWatch();
  expect(endOf(event('session.updated', { status: 'running' }))).toBeUndefined();
  expect(endOf(event('worker.exited', { exit_code: null, signal: 'SIGKILL' }))).toBeUndefined();
  const end = endOf(event('session.updated', { status: 'failed' }));
  expect(end).toEqual({ status: 'failed', signal: 'SIGKILL' });
  expect(whyEnded(end!)).toBe('ended by SIGKILL');
});

test.each([
  [{ exit_code: 0 }, undefined],
  [{ exit_code: 3 }, 'exit code 3'],
  [{ exit_code: 126 }, "exit code 126: the command may not be executed on the bridge's machine"],
  [{ exit_code: 127 }, "exit code 127: it could not be started on the bridge's machine"],
  [{ reason: 'undeliverable' }, 'no bridge took its work'],
  [{ reason: 'of_tomorrow', exit_code: 3 }, 'of_tomorrow'],
  [{ signal: 'x\u001b[2J' }, 'ended by x [2J'],
  [{}, undefined],
])('%j in words', (end, words) => {
  expect(whyEnded(end)).toBe(words);
});

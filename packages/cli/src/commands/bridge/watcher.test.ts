import type { RuntimeEvent } from '@sallyport/bridge';
import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { watcher } from './watcher.ts';

const offline = (message: string): RuntimeEvent => ({
  type: 'offline',
  error: new Error(message),
  retryInMs: 1_000,
});
const lost: RuntimeEvent = {
  type: 'session.disconnected',
  sessionId: 's1',
  error: new Error('the stream was closed (1012)'),
  retryInMs: 1_000,
};
const connected: RuntimeEvent = { type: 'session.connected', sessionId: 's1' };
const polling: RuntimeEvent = { type: 'polling', environmentId: 'env_1' };

test('of an outage each kind is told once, and once that it is over', () => {
  const { context, text } = testContext();
  const watch = watcher(context);
  const outage = [
    offline('The gateway is shutting down.'),
    lost,
    offline('It cannot be reached.'),
    lost,
    lost,
  ];
  for (const event of [connected, ...outage, polling, connected, offline('Again.')]) watch(event);
  expect(text().stderr.trim().split('\n')).toEqual([
    'The gateway is shutting down; trying again until it answers.',
    'Session s1 lost its stream (the stream was closed (1012)); its process goes on.',
    'Waiting for work; Ctrl-C ends.',
    'Session s1 has its stream again.',
    'Again; trying again until it answers.',
  ]);
});

import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { defaultBridgeConfig } from './config.ts';
import { Inbox, type EventLog } from './inbox.ts';
import type { StreamSocket } from './stream-socket.ts';

const socket: StreamSocket = {
  bufferedAmount: 0,
  bytesRead: 0,
  sendText: () => undefined,
  ping: () => undefined,
  close: () => undefined,
  terminate: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  listen: () => undefined,
};

test('what comes after a failure is not appended behind the gap', async () => {
  const appended: string[] = [];
  const judged = Promise.withResolvers<undefined>();
  const log: EventLog = {
    async append(events) {
      appended.push(...events.map(({ id }) => id));
      inbox.stop();
      // As the stream does, which asks the store why before it closes.
      await judged.promise;
    },
  };
  const inbox = new Inbox(log, socket, { clock: new ManualClock(), config: defaultBridgeConfig });
  const push = (id: string) => inbox.push({ id, type: 'note', data: {} }, 1);
  push('failed');
  push('while it is looked into');
  judged.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  push('late');
  expect(appended).toEqual(['failed']);
});

test('it is quiet once the second has passed in which events came, and never after a failure', async () => {
  const clock = new ManualClock();
  const appended = Promise.withResolvers<undefined>();
  const inbox = new Inbox({ append: () => appended.promise }, socket, { clock, config: defaultBridgeConfig });
  inbox.push({ id: 'one', type: 'note', data: {} }, 1);
  await clock.advance(1000);
  inbox.tick();
  expect(inbox.isQuiet).toBe(false);
  appended.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(inbox.isQuiet).toBe(true);
  inbox.stop();
  expect(inbox.isQuiet).toBe(false);
});

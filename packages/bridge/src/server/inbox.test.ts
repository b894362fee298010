import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { defaultBridgeConfig } from './config.ts';
import { Inbox } from './inbox.ts';
import type { StreamSocket } from './stream-socket.ts';

test('what comes after a failure is not appended behind the gap', async () => {
  const socket: StreamSocket = {
    bufferedAmount: 0,
    send: () => undefined,
    ping: () => undefined,
    close: () => undefined,
    terminate: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    listen: () => undefined,
  };
  const appended: string[] = [];
  const judged = Promise.withResolvers<undefined>();
  const inbox = new Inbox(socket, new ManualClock(), defaultBridgeConfig, async (events) => {
    appended.push(...events.map(({ id }) => id));
    inbox.stop();
    // As the stream does, which asks the store why before it closes.
    await judged.promise;
  });
  const push = (id: string) => inbox.push({ id, type: 'note', data: {} }, 1);
  push('failed');
  push('while it is looked into');
  judged.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  push('late');
  expect(appended).toEqual(['failed']);
});

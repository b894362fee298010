import { expect, test } from 'vitest';
import { createLocalWakeups } from './wakeups.ts';

test('wakes each who waits for the topic, once for each time that it subscribed', () => {
  const wakeups = createLocalWakeups();
  const woken: string[] = [];
  const listener = { wake: () => void woken.push('twice') };
  wakeups.subscribe('a', listener);
  wakeups.subscribe('a', listener);
  wakeups.subscribe('b', { wake: () => void woken.push('other') });
  wakeups.notify('a');
  expect(woken).toEqual(['twice', 'twice']);
  wakeups.unsubscribe('a', listener);
  wakeups.notify('a');
  expect(woken).toEqual(['twice', 'twice', 'twice']);
});

test('who subscribes while it is woken waits for the next time', () => {
  const wakeups = createLocalWakeups();
  let woken = 0;
  const again = {
    wake() {
      woken++;
      wakeups.unsubscribe('a', again);
      wakeups.subscribe('a', again);
    },
  };
  wakeups.subscribe('a', again);
  wakeups.notify('a');
  expect(woken).toBe(1);
  wakeups.notify('a');
  expect(woken).toBe(2);
});

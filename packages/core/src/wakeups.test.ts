import { expect, test } from 'vitest';
import { createLocalWakeups } from './wakeups.ts';

test('wakes each who waits for the topic, once for each time that it subscribed', () => {
  const wakeups = createLocalWakeups();
  const woken: string[] = [];
  const wake = () => woken.push('twice');
  const end = wakeups.subscribe('a', wake);
  wakeups.subscribe('a', wake);
  wakeups.subscribe('b', () => woken.push('other'));
  wakeups.notify('a');
  expect(woken).toEqual(['twice', 'twice']);
  end();
  wakeups.notify('a');
  expect(woken).toEqual(['twice', 'twice', 'twice']);
});

test('who subscribes while it is woken waits for the next time', () => {
  const wakeups = createLocalWakeups();
  let woken = 0;
  function again(): void {
    woken++;
    end();
    end = wakeups.subscribe('a', again);
  }
  let end = wakeups.subscribe('a', again);
  wakeups.notify('a');
  expect(woken).toBe(1);
  wakeups.notify('a');
  expect(woken).toBe(2);
});

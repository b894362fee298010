import { expect, test } from 'vitest';
import { isLoopback } from './loopback.ts';

test.each(['localhost', 'LOCALHOST', 'app.localhost', '127.0.0.1', '127.9.9.9', '::1', '[::1]'])(
  '%s is this machine',
  (hostname) => {
    expect(isLoopback(hostname)).toBe(true);
  },
);

test.each([
  '',
  'localhost.example',
  'notlocalhost',
  '.localhost',
  '127.0.0.1.example',
  '127.1',
  '128.0.0.1',
  '0.0.0.0',
  '::',
  '[::2]',
  'localhost\n.example',
])('%j may be another', (hostname) => {
  expect(isLoopback(hostname)).toBe(false);
});

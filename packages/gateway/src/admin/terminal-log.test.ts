import { expect, test } from 'vitest';
import { createLog } from '../http/log.ts';
import { terminalLog } from './terminal-log.ts';

test('one line for people, of which nothing moves the cursor or turns the text', () => {
  let screen = '';
  const log = createLog('info', terminalLog({ write: (text) => (screen += text) }));
  log.info({ method: 'GET', url: '/\u001b[2Jx\r\n\u202e', status: 404 }, 'request');
  log.error({ err: new Error('gone') }, 'the store has failed');
  const lines = screen.split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d info {2}request method=GET url=\/x {4}status=404$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d error the store has failed \(gone\)$/),
    '',
  ]);
});

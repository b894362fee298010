import type { SessionEvent } from '@sallyport/core/contract';
import { describe, expect, test, vi } from 'vitest';
import { createTerminal } from '../../io/terminal.ts';
import { capture } from '../../testing/capture.ts';
import { renderEvent } from './render.ts';

interface Shown {
  readonly json?: boolean;
  readonly messages?: boolean;
  readonly account?: NonNullable<SessionEvent['account']>;
}

function shown(
  type: string,
  data: SessionEvent['data'],
  { account, json = false, messages = false }: Shown = {},
) {
  const { streams, text } = capture();
  const event: SessionEvent = {
    ...{ id: 'evt_1', seq: 1, type, session_id: 's', created_at: 'now', data },
    ...(account && { account }),
  };
  renderEvent(event, createTerminal({ json }, streams, { NO_COLOR: '1' }), { messages });
  return text();
}

test.each([
  ['session.output', { stream: 'stdout', text: 'hello' }, 'hello\n', ''],
  ['session.output', { stream: 'stdout', text: 'several\n\nlines' }, 'several\n\nlines\n', ''],
  ['session.output', { stream: 'stdout', text: 'hel', partial: true }, 'hel', ''],
  ['session.output', { stream: 'stderr', text: 'oh' }, '', 'oh\n'],
  ['session.output', { stream: 'stdout', base64: 'AAEC' }, '', '[3 bytes that are not text]\n'],
  [
    'session.updated',
    { status: 'failed', reason: 'worker_lost' },
    '',
    'session failed: its bridge was lost\n',
  ],
  ['session.updated', { status: 'failed', exit_code: 3 }, '', 'session failed: exit code 3\n'],
  ['session.updated', { status: 'done', exit_code: 0 }, '', 'session done\n'],
  [
    'session.updated',
    { status: 'queued', reason: 'worker_lost' },
    '',
    'session queued: its bridge was lost\n',
  ],
  ['worker.exited', { exit_code: 3, signal: null }, '', ''],
  ['worker.exited', { exit_code: null, signal: 'SIGKILL' }, '', 'the command was ended by SIGKILL\n'],
  ['worker.exited', { exit_code: 0, signal: null }, '', ''],
  ['session.message', { text: 'look' }, '', ''],
  ['worker.patch', { source: 0, text: 'diff' }, '', ''],
  ['worker.changes', { sources: [{ file_count: 0 }, { error: 'no git' }] }, '', ''],
  [
    'worker.changes',
    { sources: [{ file_count: 1, added: 2, removed: 3 }, 7, { file_count: 1, added: 1, removed: 0 }] },
    '',
    'changed 2 files (+3 -3): sallyport session diff s\n',
  ],
  ['control.stop', { force: false, deadline_ms: 10_000 }, '', 'asked to stop\n'],
  ['control.stop', { force: true, deadline_ms: 0 }, '', 'asked to end at once\n'],
  ['control.interrupt', {}, '', 'asked to interrupt\n'],
  ['control.input', { text: 'secret' }, '', ''],
  ['control.of_tomorrow', { a: 1 }, '', ''],
  ['tool.call', { name: 'x' }, '', 'tool.call {"name":"x"}\n'],
])('%s %j', (type, data, stdout, stderr) => {
  expect(shown(type, data)).toEqual({ stdout, stderr });
});

test('every event is a JSON line with --json, and nothing else', () => {
  const { stdout, stderr } = shown('session.output', { stream: 'stderr', text: 'oh' }, { json: true });
  expect(JSON.parse(stdout)).toMatchObject({ type: 'session.output', data: { text: 'oh' } });
  expect(stderr).toBe('');
});

test('messages are shown where they are asked for', () => {
  expect(shown('session.message', { text: 'look' }, { messages: true }).stderr).toBe('> look\n');
});

describe('who sent it is said', () => {
  test.each([
    [
      'by e-mail address',
      { id: 'a1', email: 'ann@example.com' },
      'ann@example.com> look',
      ' by ann@example.com',
    ],
    ['by the id of one that is gone', { id: 'a1', email: null }, 'a1> look', ' by a1'],
    ['as far as it is known', undefined, '> look', ''],
  ])('%s', (_, account, message, by) => {
    const options = { messages: true, ...(account && { account }) };
    const stderr = (...[type, data]: Parameters<typeof shown>) => shown(type, data, options).stderr;
    expect(stderr('session.message', { text: 'look' })).toBe(`${message}\n`);
    const answered = (behavior: string) =>
      stderr('control.permission_response', { request_id: 'r1', behavior });
    expect(answered('allow')).toBe(`permission is given${by}\n`);
    expect(answered('deny')).toBe(`permission is refused${by}\n`);
  });

  test('--json has the account as the service tells it', () => {
    for (const account of [
      { id: 'a1', email: 'ann@example.com' },
      { id: 'a1', email: null },
    ])
      for (const type of ['session.message', 'control.permission_response'])
        expect(JSON.parse(shown(type, {}, { json: true, account }).stdout)).toHaveProperty(
          'account',
          account,
        );
  });

  test('a message cannot look like one of somebody else', () => {
    const text = 'look\nann@example.com> do it';
    const account = { id: 'b1', email: 'bob@example.com' };
    const { stderr } = shown('session.message', { text }, { messages: true, account });
    expect(stderr).toBe('bob@example.com> look\n  ann@example.com> do it\n');
  });
});

test('a failure is red', () => {
  vi.stubEnv('FORCE_COLOR', '1');
  vi.stubEnv('NO_COLOR', undefined);
  const { streams, text } = capture();
  const event: SessionEvent = {
    id: 'evt_1',
    seq: 1,
    type: 'session.updated',
    session_id: 's',
    created_at: 'now',
    data: { status: 'failed', exit_code: 3 },
  };
  renderEvent(event, createTerminal({ json: false }, streams, {}));
  expect(text().stderr).toBe('\u001B[31msession failed: exit code 3\u001B[39m\n');
  vi.unstubAllEnvs();
});

describe('what others wrote cannot steer the terminal', () => {
  const sequences = '\u001B]0;owned\u0007\u001B[2J\u009B31m\r';

  test.each([
    ['session.message', { text: `look${sequences}` }],
    ['session.updated', { status: `failed${sequences}`, reason: sequences }],
    ['session.updated', { status: 'failed', signal: sequences }],
    ['worker.exited', { signal: sequences }],
    [`tool${sequences}`, { name: sequences }],
  ])('%s', (type, data) => {
    const { stdout, stderr } = shown(type, data, { messages: true });
    expect(stdout).toBe('');
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test('the lines of a message stay', () => {
    expect(shown('session.message', { text: 'a\nb' }, { messages: true }).stderr).toBe('> a\n  b\n');
  });

  test('but the output of the process is what it is', () => {
    const colours = '\u001B[31mred\u001B[39m';
    expect(shown('session.output', { stream: 'stdout', text: colours }).stdout).toBe(`${colours}\n`);
  });
});

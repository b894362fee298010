import type { SessionEvent } from '@sallyport/core/contract';
import { describe, expect, test, vi } from 'vitest';
import { createTerminal } from '../../io/terminal.ts';
import { capture } from '../../testing/capture.ts';
import { renderEvent } from './render.ts';

function shown(type: string, data: Record<string, unknown>, { json = false, messages = false } = {}) {
  const { streams, text } = capture();
  const event: SessionEvent = { id: 'evt_1', seq: 1, type, session_id: 's', created_at: 'now', data };
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
    expect(shown('session.message', { text: 'a\nb' }, { messages: true }).stderr).toBe('> a\nb\n');
  });

  test('but the output of the process is what it is', () => {
    const colours = '\u001B[31mred\u001B[39m';
    expect(shown('session.output', { stream: 'stdout', text: colours }).stdout).toBe(`${colours}\n`);
  });
});

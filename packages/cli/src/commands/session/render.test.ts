import type { SessionEvent } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { createTerminal } from '../../io/terminal.ts';
import { capture } from '../../testing/capture.ts';
import { renderEvent } from './render.ts';

function shown(type: string, data: Record<string, unknown>, json = false) {
  const { streams, text } = capture();
  const event: SessionEvent = { id: 'evt_1', seq: 1, type, session_id: 's', created_at: 'now', data };
  renderEvent(event, createTerminal({ json }, streams, { NO_COLOR: '1' }));
  return text();
}

test.each([
  ['session.output', { stream: 'stdout', text: 'hello' }, 'hello\n', ''],
  ['session.output', { stream: 'stdout', text: 'hel', partial: true }, 'hel', ''],
  ['session.output', { stream: 'stderr', text: 'oh' }, '', 'oh\n'],
  ['session.output', { stream: 'stdout', base64: 'AAEC' }, '', '[3 bytes that are not text]\n'],
  ['session.updated', { status: 'failed', reason: 'worker_lost' }, '', 'session failed (worker_lost)\n'],
  ['worker.exited', { exit_code: 3, signal: null }, '', 'the command ended with exit code 3\n'],
  ['worker.exited', { exit_code: null, signal: 'SIGKILL' }, '', 'the command was ended by SIGKILL\n'],
  ['worker.exited', { exit_code: 0, signal: null }, '', ''],
  ['session.message', { text: 'look' }, '', ''],
  ['tool.call', { name: 'x' }, '', 'tool.call {"name":"x"}\n'],
])('%s %j', (type, data, stdout, stderr) => {
  expect(shown(type, data)).toEqual({ stdout, stderr });
});

test('every event is a JSON line with --json, and nothing else', () => {
  const { stdout, stderr } = shown('session.output', { stream: 'stderr', text: 'oh' }, true);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'session.output', data: { text: 'oh' } });
  expect(stderr).toBe('');
});

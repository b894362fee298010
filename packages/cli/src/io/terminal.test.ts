import { describe, expect, test, vi } from 'vitest';
import { capture } from '../testing/capture.ts';
import { createTerminal } from './terminal.ts';

describe('colours', () => {
  test.each([
    ['a pipe', {}, 'x'],
    ['FORCE_COLOR', { FORCE_COLOR: '1' }, '\u001B[31mx\u001B[39m'],
    ['NO_COLOR over FORCE_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, 'x'],
    ['an empty NO_COLOR is none', { FORCE_COLOR: '1', NO_COLOR: '' }, '\u001B[31mx\u001B[39m'],
  ])('%s', (_, env: NodeJS.ProcessEnv, text) => {
    // styleText reads the process's own environment.
    vi.stubEnv('FORCE_COLOR', env['FORCE_COLOR']);
    vi.stubEnv('NO_COLOR', undefined);
    expect(createTerminal({ json: false }, capture().streams, env).style('red', 'x')).toBe(text);
    vi.unstubAllEnvs();
  });
});

test('a result is one line: JSON where asked for', () => {
  const { streams, text } = capture();
  createTerminal({ json: false }, streams).result({ json: { a: 1 }, human: 'one' });
  createTerminal({ json: true }, streams).result({ json: { a: 1 }, human: 'one' });
  expect(text()).toEqual({ stdout: 'one\n{"a":1}\n', stderr: '' });
});

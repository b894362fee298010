import { afterEach, describe, expect, test, vi } from 'vitest';
import { capture } from '../testing/capture.ts';
import { createTerminal, outliveReaders } from './terminal.ts';

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

test('a result as JSON has nothing of others that steers the terminal', () => {
  const { streams, text } = capture();
  createTerminal({ json: true }, streams).result({ json: { a: '\u009b2J\u202e' }, human: '' });
  expect(text().stdout).toBe('{"a":"\\u009b2J\\u202e"}\n');
});

describe('a stream that takes nothing', () => {
  const failing = (code: string) => {
    const stream = capture().streams.stdout;
    stream._write = (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: why`), { code }));
    return stream;
  };
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  afterEach(() => exit.mockClear());

  test('as stdout fails the command, with one sentence', async () => {
    const { streams, text } = capture();
    const full = { ...streams, stdout: failing('ENOSPC') };
    outliveReaders(full);
    createTerminal({ json: true }, full).out('x');
    await expect.poll(() => exit.mock.calls).toEqual([[1]]);
    expect(text().stderr).toBe('error: stdout cannot be written: the disk is full.\n');
  });

  test('as stderr keeps nothing from being done', async () => {
    const { streams, text } = capture();
    const stderr = failing('ENOSPC');
    const failed = new Promise((resolve) => stderr.once('close', resolve));
    outliveReaders({ ...streams, stderr });
    const terminal = createTerminal({ json: true }, { ...streams, stderr });
    terminal.note('a notice');
    await failed;
    terminal.out('x');
    expect([text().stdout, exit.mock.calls]).toEqual(['x', []]);
  });
});

describe('the status line', () => {
  const erased = '\r\u001B[K';

  test('changes in place, is cut to one line, and makes room for what is written', () => {
    const { streams, text } = capture(12);
    const terminal = createTerminal({ json: false }, streams, {});
    terminal.status('waiting for 9 s');
    terminal.status('8 s');
    terminal.note('a notice');
    terminal.status('7 s');
    terminal.result({ json: 1, human: 'done' });
    terminal.status('6 s');
    terminal.status(undefined);
    terminal.status(undefined);
    expect(text()).toEqual({
      stderr: `waiting for${erased}8 s${erased}a notice\n7 s${erased}6 s${erased}`,
      stdout: 'done\n',
    });
  });

  test.each([
    ['a pipe', undefined, false, {}],
    ['--json', 80, true, {}],
    ['NO_COLOR', 80, false, { NO_COLOR: '1' }],
    ['a dumb terminal', 80, false, { TERM: 'dumb' }],
  ])('is not drawn for %s', (_, columns, json, env: NodeJS.ProcessEnv) => {
    const { streams, text } = capture(columns);
    const terminal = createTerminal({ json }, streams, env);
    expect(terminal.columns).toBe(0);
    terminal.status('8 s');
    terminal.status(undefined);
    expect(text()).toEqual({ stdout: '', stderr: '' });
  });
});

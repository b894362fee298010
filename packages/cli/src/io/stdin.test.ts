import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { testContext } from '../testing/context.ts';
import { toFailure } from './failure.ts';
import { readStdin } from './stdin.ts';

test('what is piped in is read whole, without a word', async () => {
  const { context, text } = testContext();
  const stdin = new PassThrough();
  stdin.end('fix\nit\n');
  expect(await readStdin(context, 'the prompt', stdin)).toBe('fix\nit\n');
  expect(text()).toEqual({ stdout: '', stderr: '' });
});

test('on a terminal it says what it waits for, and Ctrl-C ends the waiting', async () => {
  const { context, text, interrupt } = testContext();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const reading = readStdin(context, 'the prompt', stdin);
  expect(text().stderr).toBe('Reading the prompt from the terminal; Ctrl-D ends it.\n');
  interrupt();
  const error: unknown = await reading.catch((caught: unknown) => caught);
  expect(toFailure(error)).toMatchObject({ code: 'interrupted', exitCode: 130 });
  expect(stdin.destroyed).toBe(true);
});

test('Ctrl-C ends a process that waits for its standard input', async () => {
  const script = `
    import { watchInterrupts } from ${JSON.stringify(join(import.meta.dirname, 'interrupt.ts'))};
    import { readStdin } from ${JSON.stringify(join(import.meta.dirname, 'stdin.ts'))};
    const reading = readStdin({ interrupt: watchInterrupts(), terminal: {} }, 'the prompt');
    console.log('reading');
    await reading.catch((error) => { console.log(error.name); process.exitCode = 130; });`;
  const child = spawn(
    process.execPath,
    ['-C', '@sallyport/source', '--no-warnings', '--input-type=module', '-e', script],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('reading');
  child.kill('SIGINT');
  expect((await lines.next()).value).toBe('AbortError');
  // Nothing holds the process any more, though the pipe is open.
  expect(await once(child, 'exit')).toEqual([130, null]);
});

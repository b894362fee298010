import { spawn, type ChildProcess, type SpawnOptionsWithStdioTuple } from 'node:child_process';
import type { Context } from '../context.ts';

/**
 * The end of a command: a text that may be longer than the screen. On a terminal it goes through the person's pager (`PAGER`;
 * default `less`, which leaves on the screen what fits there), else out as it is.
 */
export async function page(
  { terminal, env, interrupt }: Pick<Context, 'terminal' | 'env' | 'interrupt'>,
  text: string,
): Promise<void> {
  const { PAGER: pager, TERM: kind } = env;
  const isWanted = terminal.isForEyes && kind !== 'dumb' && pager?.trim() !== '' && pager !== 'cat';
  if (!isWanted) return terminal.out(text);
  // Ctrl-C is the pager's, which stops what it does and stays.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  interrupt.release();
  try {
    if (!(await isShownBy(pager, text, env))) terminal.out(text);
  } finally {
    process.off('SIGINT', ignore);
  }
}

/** Gives whether there is such a pager. */
function isShownBy(pager: string | undefined, text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const options: SpawnOptionsWithStdioTuple<'pipe', 'inherit', 'inherit'> = {
    // As git has it: colours as they are, the screen as it was, and no waiting where all is to be seen.
    env: { LESS: 'FRX', LV: '-c', ...env },
    stdio: ['pipe', 'inherit', 'inherit'],
  };
  // Out of file descriptors it has no pipe, whatever the type of `spawn` says.
  const child: ChildProcess =
    pager === undefined ? spawn('less', [], options) : spawn('/bin/sh', ['-c', pager], options);
  child.stdin?.on('error', () => undefined).end(text); // it may be left before the end
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code !== 127));
  });
}

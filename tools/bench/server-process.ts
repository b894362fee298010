import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** A server under measurement, in a process of its own. */
export interface ServerProcess {
  readonly child: ChildProcess;
  readonly port: number;
  /** What it said as it began: its address, and what else its clients need to know. */
  readonly line: string;
}

/** Starts a program of ours on a core of its own, or on those of a list (`0,1`); its first line names its port. */
export async function startServer(cores: number | string, ...args: string[]): Promise<ServerProcess> {
  const child = spawn(
    'taskset',
    ['-c', String(cores), process.execPath, '-C', '@sallyport/source', ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  process.once('exit', () => child.kill());
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${args.join(' ')} has ended.`)));
  ended.catch(() => undefined); // so do all servers, in the end
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  while (!text.includes('\n')) await Promise.race([once(child.stdout, 'data'), ended]);
  const line = text.slice(0, text.indexOf('\n'));
  return { child, line, port: Number(/:(\d+)/.exec(line)?.[1]) };
}

/** Asks it to end, and waits until it has: it takes its data away. */
export async function stopServer({ child }: ServerProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}

const clockTicksPerSecond = 100;

/** Milliseconds of CPU that a process has used, all its threads together. */
export function cpuMs({ child }: ServerProcess): number {
  const fields = readFileSync(`/proc/${String(child.pid)}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / clockTicksPerSecond;
}

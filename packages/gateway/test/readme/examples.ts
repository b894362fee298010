import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

const packages = join(import.meta.dirname, '../../..');
const main = join(packages, 'gateway/src/main.ts');

/** The code blocks of a package's README, in order. */
export function codeBlocks(name: 'telemetry' | 'bridge' | 'gateway'): readonly string[] {
  const readme = readFileSync(join(packages, name, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, block = '']) => block);
}

/** A program with other values in place of the example's; throws where the example has one of those no more. */
export function withValues(program: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((known, [from, to]) => {
    if (!known.includes(from)) throw new Error(`The example does not have ${from}:\n${known}`);
    return known.replaceAll(from, to);
  }, program);
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Runs a program of TypeScript as whoever copies it would, from the sources. */
export function runProgram(program: string, env?: Environment): Promise<Ran> {
  return ended(startProgram(program, env));
}

export function startProgram(program: string, env?: Environment): ChildProcessWithoutNullStreams {
  return start(['--input-type=module-typescript', '-e', program], env);
}

/** Runs a line such as `sallyport-gateway doctor`. */
export function runLine(line: string, env?: Environment): Promise<Ran> {
  return ended(startLine(line, env));
}

export function startLine(line: string, env?: Environment): ChildProcessWithoutNullStreams {
  const [name, ...words] = line.replace(/#.*/, '').trim().split(/\s+/);
  if (name !== 'sallyport-gateway') throw new Error(`Another program: ${line}`);
  return start([main, ...words], env);
}

function start(args: readonly string[], env: Environment = {}): ChildProcessWithoutNullStreams {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['-C', '@sallyport/source', ...args], {
    cwd: import.meta.dirname,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

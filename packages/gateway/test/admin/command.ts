import { shellWord } from '@sallyport/core';
import { CommanderError } from 'commander';
import { vi } from 'vitest';
import { describeFailure } from '../../src/admin/failure.ts';
import { createProgram } from '../../src/program.ts';

/** What a command printed, and the exit code and message that it failed with. */
export interface Outcome {
  readonly stdout: string;
  readonly failed?: readonly [code: number, message: string];
}

/** What it says of a command to go on with is of the same data directory. */
function ofTheSameStore(stderr: string, dataDir: string): string {
  for (const [named] of stderr.matchAll(/`sallyport-gateway admin [^`]+`/g))
    if (!named.endsWith(` --data-dir ${shellWord(dataDir)}\``))
      throw new Error(`${named} is of another store`);
  return stderr;
}

/** An `admin` command on a data directory, in this process. */
export function adminCommand(dataDir: string, ...args: readonly string[]): Promise<Outcome> {
  return attendedCommand(() => undefined, dataDir, ...args);
}

/** The same, of one that asks a person to do something: `attend` gets all that stderr shows, as it grows. */
export async function attendedCommand(
  attend: (stderr: string) => void,
  dataDir: string,
  ...args: readonly string[]
): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      stdout += String(chunk);
      return true;
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
      stderr += String(chunk);
      attend(stderr);
      return true;
    }),
  ];
  try {
    await createProgram().parseAsync(['node', 'gateway', 'admin', ...args, '--data-dir', dataDir]);
    return { stdout };
  } catch (error) {
    if (error instanceof CommanderError) return { stdout, failed: [2, ofTheSameStore(stderr, dataDir)] };
    const { exitCode, message } = describeFailure(error);
    return { stdout, failed: [exitCode, ofTheSameStore(message, dataDir)] };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

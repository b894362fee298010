import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './bench.ts';

export interface LivingPipe {
  /** For `exec 9>PATH` in a command. */
  readonly path: string;
  /** Resolves when the last process that inherited the descriptor is gone. */
  readonly allGone: Promise<unknown>;
}

/** Tells without polling when a whole tree of processes has ended: the kernel closes the pipe with the last of them. */
export function openLivingPipe(): LivingPipe {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = createReadStream(path);
  reader.resume();
  return { path, allGone: once(reader, 'end') };
}

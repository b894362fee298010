import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface Victim {
  readonly url: string;
  readonly pid: number;
  /** With SIGKILL. */
  kill(): Promise<void>;
}

/** Starts `victim.ts` on a directory; it goes with the test. */
export function startVictim(directory: string, ...options: readonly string[]): Promise<Victim> {
  return startProgram('victim.ts', directory, ...options);
}

export async function startProgram(name: string, ...options: readonly string[]): Promise<Victim> {
  const program = join(import.meta.dirname, name);
  const child = spawn(process.execPath, ['-C', '@sallyport/source', program, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { url, pid: child.pid ?? 0, kill };
}

/** Sends events as the batch of that number, which is stored once however often it comes. */
export function sendBatch(url: string, batch: number, events: readonly object[]): Promise<Response> {
  return fetch(`${url}/api/event_logging/v2/batch`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer access',
      'content-type': 'application/json',
      'x-service-name': 'victim',
      'idempotency-key': `batch-${batch}`,
    },
    body: JSON.stringify({ events }),
  });
}

import { join } from 'node:path';
import { startProgram, type Victim } from '../start-program.ts';

/** Starts `victim.ts` on a directory; it goes with the test. */
export function startVictim(directory: string, ...options: readonly string[]): Promise<Victim> {
  return startProgram(join(import.meta.dirname, 'victim.ts'), directory, ...options);
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

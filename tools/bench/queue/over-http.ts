import { fileURLToPath } from 'node:url';
import { startServer } from '../server-process.ts';
import { openCaller } from './caller.ts';
import type { OpenQueue } from './queue.ts';

const server = fileURLToPath(new URL('server.ts', import.meta.url));

/**
 * A gateway in a process of its own, as bridges use it: a session is created, a held poll answers, the item is acknowledged.
 * It is started once, as the libraries are loaded once. `bare`: all it says is the same, and nothing is behind it.
 */
export function openOverHttp(kind: 'gateway' | 'bare'): OpenQueue {
  let starting: ReturnType<typeof startServer> | undefined;

  return async ({ workers, taken, done }) => {
    starting ??= startServer('0,1', server, kind);
    const running = await starting;
    const caller = await openCaller(JSON.parse(running.line) as Parameters<typeof openCaller>[0]);
    const environments: string[] = [];
    for (let worker = 0; worker < workers; worker++)
      environments.push(await caller.register(`${workers}-workers-${worker}`));

    let isOpen = true;
    async function work(environmentId: string): Promise<void> {
      while (isOpen) {
        const item = await caller.poll(environmentId, 60_000);
        if (item === null) continue;
        taken();
        await caller.ack(environmentId, item.id);
        done();
      }
    }
    const works = environments.map((environmentId) =>
      work(environmentId).catch((error: unknown) => {
        if (isOpen) throw error; // else its connection was closed under it
      }),
    );
    let next = 0;
    return {
      async add() {
        await caller.session(environments[next++ % workers] ?? '');
      },
      async close() {
        isOpen = false;
        caller.close();
        await Promise.all(works);
      },
    };
  };
}

import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { startServer, stopServer } from '../server-process.ts';
import { openCaller } from './caller.ts';
import type { OpenQueue } from './queue.ts';

const server = fileURLToPath(new URL('server.ts', import.meta.url));

/**
 * A gateway in a process of its own, as bridges use it: a session is created, a held poll answers, the item is acknowledged.
 * `bare`: all it says is the same, and nothing is behind it.
 */
export const openOverHttp =
  (kind: 'gateway' | 'bare'): OpenQueue =>
  async ({ workers, taken, done }) => {
    const running = await startServer('0,1', server, kind);
    const agent = new Agent({ connections: 2 * workers + 2, bodyTimeout: 0, headersTimeout: 0 });
    const caller = await openCaller(JSON.parse(running.line) as Parameters<typeof openCaller>[0], agent);
    const environments: string[] = [];
    for (let worker = 0; worker < workers; worker++)
      environments.push(await caller.register(`worker-${worker}`));

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
        await agent.destroy();
        await Promise.all(works);
        await stopServer(running);
      },
    };
  };

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { scratchDirectory } from '../store/scratch.ts';
import { sendBatch, startVictim } from './victims.ts';

const total = 600;
const batchSize = 20;

/** An OTLP endpoint that takes what comes, fails, leaves requests without an answer, or is not there. */
async function startEndpoint() {
  const seen = { mode: 'takes' as 'takes' | 'fails' | 'hangs', failed: 0, hung: 0, requests: 0 };
  /** The records that it has taken, each where it came first. */
  const arrived = new Set<number>();
  let server: Server;
  async function listen(port = 0): Promise<number> {
    server = createServer((request, response) => {
      void request.toArray().then(
        (chunks) => {
          seen.requests++;
          if (seen.mode === 'hangs') return seen.hung++;
          if (seen.mode === 'fails') return (seen.failed++, response.writeHead(503).end());
          const text = Buffer.concat(chunks as Buffer[]).toString();
          for (const [, name] of text.matchAll(/"body":\{"stringValue":"(\d+)"/g)) arrived.add(Number(name));
          return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        },
        () => undefined, // the sender was killed amid it
      );
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  async function stop(): Promise<void> {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
  const port = await listen();
  onTestFinished(stop);
  return { seen, arrived, url: `http://127.0.0.1:${port}/v1/logs`, stop, listenAgain: () => listen(port) };
}

test('kill -9 amid an export to an endpoint that fails, too: each record arrives, in order', async () => {
  const { seen, arrived, url, stop, listenAgain } = await startEndpoint();
  const directory = scratchDirectory();
  let gateway = await startVictim(directory, '--export', url, '--compacts');
  const until = (holds: () => boolean) => vi.waitUntil(holds, { timeout: 20_000, interval: 1 });

  const sending = (async () => {
    for (let batch = 0; batch < total / batchSize;)
      if (await send(gateway.url, batch).catch(() => false)) batch++;
      else await setTimeout(20);
  })();

  await until(() => arrived.size >= 100);
  seen.mode = 'hangs';
  await until(() => seen.hung > 0);
  await gateway.kill(); // amid a request that is never answered
  seen.mode = 'fails';
  gateway = await startVictim(directory, '--export', url, '--compacts');
  await until(() => seen.failed >= 3);
  await gateway.kill(); // while it waits to try again
  seen.mode = 'takes';
  gateway = await startVictim(directory, '--export', url, '--compacts');
  await until(() => arrived.size >= 250);
  await gateway.kill(); // wherever it is
  gateway = await startVictim(directory, '--export', url, '--compacts');
  await until(() => arrived.size >= 400);
  await stop();
  await setTimeout(20);
  await listenAgain();
  await sending;
  await until(() => arrived.size === total);

  expect([...arrived]).toEqual(Array.from({ length: total }, (_, index) => index));
});

async function send(url: string, batch: number): Promise<boolean> {
  const events = Array.from({ length: batchSize }, (_, index) => ({
    body: { stringValue: String(batch * batchSize + index) },
  }));
  const answer = await sendBatch(url, batch, events);
  await answer.body?.cancel();
  return answer.status === 200;
}

// ws#1620, tapflow#40: a service that keeps in memory what one reader does not take, until it has none left.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Installation } from '../e2e/installation.ts';
import { openWire } from '../e2e/wire.ts';

const mebibyte = 1024 * 1024;
const others = 99;
const text = 'x'.repeat(400 * 1024);
/** Two events a post, which is below the limit of a body. */
const posts = 250;
vi.setConfig({ testTimeout: 540_000 });

interface Frame {
  readonly seq: number;
  readonly type: string;
  readonly session_id?: string;
  readonly data?: { readonly sentAt?: number };
}

test('a worker that does not read 200 MB costs the gateway little memory, and 99 others no time', async () => {
  await using installation = new Installation();
  const gateway = await installation.gateway([], { SALLYPORT_LOG_LEVEL: 'warn' });
  await installation.login();
  const wire = await openWire(installation);
  const transport = undiciTransport();
  const { sessions } = createClient({ ...wire.options, transport });
  const environmentId = await wire.register('readers');

  async function openWorker(worker: { readonly id: string; readonly token: string }, fromSeq = 0) {
    const address = `${installation.baseUrl.replace('http', 'ws')}/v1/code/sessions/${worker.id}/worker/events/stream`;
    const socket = new WebSocket(`${address}?from_seq=${fromSeq}`, {
      headers: { authorization: `Bearer ${worker.token}`, 'vendor-version': '2023-06-01' },
    });
    await once(socket, 'open');
    const seqs: number[] = [];
    const delays: number[] = [];
    socket.on('message', (message: Buffer) => {
      const frame = JSON.parse(message.toString()) as Frame;
      if (frame.session_id === undefined) return;
      seqs.push(frame.seq);
      if (frame.data?.sentAt !== undefined) delays.push(performance.now() - frame.data.sentAt);
    });
    return { ...worker, socket, seqs, delays, closed: once(socket, 'close') };
  }
  const append = (id: string, events: readonly object[]) =>
    sessions.append({ params: { id }, body: { events: events as never } });
  const flood = async (id: string) => {
    for (let post = 0; post < posts; post += 1)
      await append(id, [
        { type: 'note', data: { text } },
        { type: 'note', data: { text } },
      ]);
  };

  const workers: { readonly id: string; readonly token: string }[] = [];
  for (let at = 0; at < others + 2; at += 1) workers.push(await wire.worker(environmentId));
  const [quick, slow, ...rest] = await Promise.all(workers.map((worker) => openWorker(worker)));

  /** Tells each of the others of something now and then, one after the other, until it is over. */
  async function keepTelling(over: Promise<unknown>): Promise<number> {
    let isOver = false;
    void over.finally(() => (isOver = true));
    for (let at = 0; !isOver; at += 1) {
      const { id = '' } = rest[at % others] ?? {};
      await append(id, [{ type: 'note', data: { sentAt: performance.now() } }]);
      await setTimeout(20);
    }
    const delays = rest.flatMap((each) => each.delays.splice(0)).sort((a, b) => a - b);
    return delays[Math.floor(delays.length * 0.99)] ?? NaN;
  }

  // What the same events cost where they are read: it is not the reader's doing.
  const read = flood(quick!.id);
  const usual = await keepTelling(read);
  const before = memory(gateway.child.pid).peak;

  slow!.socket.pause();
  const pausedAt = performance.now();
  const unread = flood(slow!.id);
  const told = keepTelling(Promise.all([unread, setTimeout(35_000)]));
  await unread;
  const busy = await told;
  const grown = memory(gateway.child.pid).peak - before;
  console.log(
    `peak RSS ${(before / mebibyte).toFixed(0)} MiB, then ${(grown / mebibyte).toFixed(1)} MiB more; others' p99 ${usual.toFixed(0)} ms, then ${busy.toFixed(0)} ms`,
  );
  slow!.socket.resume();
  const [code] = (await slow!.closed) as [number];
  expect(code).toBe(4408);
  expect(performance.now() - pausedAt).toBeGreaterThan(30_000);
  expect(grown).toBeLessThan(32 * mebibyte);
  expect(busy).toBeLessThan(Math.max(100, 2 * usual));

  const again = await openWorker(slow!, slow!.seqs.at(-1));
  const last = () => again.seqs.at(-1) ?? 0;
  while (last() < 2 * posts) await once(again.socket, 'message');
  const all = [...slow!.seqs, ...again.seqs];
  expect(all).toEqual(Array.from({ length: last() - all[0]! + 1 }, (_, index) => all[0]! + index));
  for (const { socket } of [quick!, again, ...rest]) socket.terminate();
  await transport.close();
  await wire.close();
});

/** The most that a process ever had in memory. */
function memory(pid = 0): { readonly peak: number } {
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return { peak: Number(kilobytes) * 1024 };
}

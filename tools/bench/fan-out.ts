// What it costs to tell many of an event, beside a bare `ws` server, in one run:
// `node -C @sallyport/source tools/bench/fan-out.ts [rounds] [events a round] [readers]`.
// A worker sends events on its WebSocket. The gateway makes each durable in the session's log and tells all who follow the
// session, by server-sent events that they could resume; the bare server passes each on to all its sockets and forgets it.
// Each server has the first core alone, its threads included; the driver has the second one. Prints a Markdown table.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { openCaller } from './queue/caller.ts';
import { cpuMs, startServer, stopServer, type ServerProcess } from './server-process.ts';
import { median, quantile } from './timing.ts';

const rounds = Number(process.argv[2] ?? 5);
const events = Number(process.argv[3] ?? 1000);
const readers = Number(process.argv[4] ?? 100);
const singles = 50;

interface Side {
  readonly name: string;
  readonly running: ServerProcess;
  readonly publisher: WebSocket;
  readonly sockets: readonly Socket[];
  readonly rates: number[];
  readonly cpus: number[];
  readonly singles: number[];
}

/** A reader that only looks for the end: what a client does with events is not measured. */
async function openReader(port: number, request: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.write(`${request}\r\nHost: bench\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!/^HTTP\/1.1 (101|200)/.test(head.toString())) throw new Error(head.toString());
  return socket;
}

function until(socket: Socket, mark: string): Promise<void> {
  return new Promise((resolve) => {
    let tail = '';
    const look = (chunk: Buffer) => {
      const text = tail + chunk.toString('latin1');
      if (text.includes(mark)) {
        socket.off('data', look);
        resolve();
      }
      tail = text.slice(-mark.length);
    };
    socket.on('data', look);
  });
}

const server = fileURLToPath(new URL('fan-out/server.ts', import.meta.url));
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';

async function openBare(): Promise<Side> {
  const running = await startServer(0, server, 'bare');
  const { port } = running;
  const opening = `GET / HTTP/1.1\r\n${upgrade}`;
  const sockets = await Promise.all(Array.from({ length: readers }, () => openReader(port, opening)));
  const publisher = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(publisher, 'open');
  return { name: 'bare `ws`', running, publisher, sockets, rates: [], cpus: [], singles: [] };
}

async function openGateway(): Promise<Side> {
  const running = await startServer(0, server, 'gateway');
  const { port } = running;
  const login = JSON.parse(running.line) as Parameters<typeof openCaller>[0];
  const caller = await openCaller(login);
  const environmentId = await caller.register('worker');
  const { id } = await caller.session(environmentId);
  const item = await caller.poll(environmentId, 0);
  await caller.ack(environmentId, item?.id ?? '');
  const token = await caller.takeOver(id);
  caller.close();
  const publisher = new WebSocket(`ws://127.0.0.1:${port}/v1/code/sessions/${id}/worker/events/stream`, {
    headers: { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' },
  });
  await once(publisher, 'open');
  const following = `GET /v1/sessions/${id}/events/stream HTTP/1.1\r\nAuthorization: ${caller.authorization}`;
  const sockets = await Promise.all(Array.from({ length: readers }, () => openReader(port, following)));
  return { name: 'gateway', running, publisher, sockets, rates: [], cpus: [], singles: [] };
}

let last = 0;
/** Sends so many events at once; resolves when every reader has the last one. */
async function tell({ publisher, sockets }: Side, count: number): Promise<void> {
  const name = `end-${++last}`;
  const all = Promise.all(sockets.map((socket) => until(socket, `"${name}"`)));
  const text = 'x'.repeat(100);
  for (let event = 1; event <= count; event++) {
    const data = { text, mark: event === count ? name : '' };
    publisher.send(JSON.stringify({ id: `${last}-${event}`, type: 'session.output', data }));
  }
  await all;
}

async function timed(act: Promise<void>): Promise<number> {
  const from = performance.now();
  await act;
  return performance.now() - from;
}

const load = () => loadavg()[0]?.toFixed(1) ?? '';
const began = load();
const sides = [await openBare(), await openGateway()];
for (let round = 0; round <= rounds; round++)
  for (const side of sides) {
    const before = cpuMs(side.running);
    const ms = await timed(tell(side, events));
    const cpu = cpuMs(side.running) - before;
    const single: number[] = [];
    for (let event = 0; event < singles; event++) single.push(await timed(tell(side, 1)));
    if (round === 0) continue; // warm-up
    const deliveries = events * readers;
    side.rates.push(deliveries / (ms / 1000));
    side.cpus.push((cpu * 1000) / deliveries);
    side.singles.push(...single);
  }

console.log(
  `${rounds} rounds of ${events} events to ${readers} readers, then ${singles} one by one; load ${began} to ${load()}\n`,
);
console.log(
  '| Server | Deliveries a second, median (range) | Beside bare | CPU us each | Beside bare | One event to all, p50 ms | p99 ms |',
);
console.log('|---|---|---|---|---|---|---|');
const [bare] = sides;
for (const { name, rates, cpus, singles: single } of sides) {
  const range = [Math.min(...rates), Math.max(...rates)]
    .map((rate) => `${Math.round(rate / 1000)}k`)
    .join('-');
  const cells = [
    `${Math.round(median(rates) / 1000)}k (${range})`,
    (median(rates) / median(bare?.rates ?? [])).toFixed(2),
    median(cpus).toFixed(1),
    (median(cpus) / median(bare?.cpus ?? [])).toFixed(2),
    median(single).toFixed(2),
    quantile(single, 0.99).toFixed(2),
  ];
  console.log(`| ${[name, ...cells].join(' | ')} |`);
}
await Promise.all(sides.map(({ running }) => stopServer(running)));
process.exit();

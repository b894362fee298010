// What a held poll and an idle stream cost in memory, beside a bare Fastify that does not answer and a bare `ws` server:
// `node -C @sallyport/source tools/bench/memory.ts [connections]` (a minute or two). Prints a Markdown table.
// Each poll is of an environment of its own, each stream of a session of its own, all of one gateway as it is run. Counted is
// what the server holds while the connections are there, less what it holds once they are gone.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openCaller } from './queue/caller.ts';
import { startServer, stopServer, type ServerProcess } from './server-process.ts';

const connections = Number(process.argv[2] ?? 5000);
const server = fileURLToPath(new URL('memory/server.ts', import.meta.url));
/** The gateway takes 200 handshakes a second. */
const handshakeMs = 6;

/** KiB in V8's heap and in buffers; what the system holds for a socket is beside that, and the same for all. */
async function heldKb({ child }: ServerProcess): Promise<number> {
  let held = NaN;
  for (let collections = 0; collections < 3; collections++) {
    await setTimeout(300); // what is on its way ends
    child.kill('SIGUSR2');
    const [line] = (await once(child.stdout ?? child, 'data')) as [string];
    held = Number(line);
  }
  return held / 1024;
}

const http = (line: string, ...headers: string[]) =>
  [`GET ${line} HTTP/1.1`, 'Host: bench', ...headers, '', ''].join('\r\n');
const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

async function open(port: number, request: string, isAnswered: boolean): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  if (isAnswered) {
    const [head] = (await once(socket, 'data')) as [Buffer];
    if (!head.toString().startsWith('HTTP/1.1 101')) throw new Error(head.toString());
  }
  return socket.resume();
}

/** KiB of the server for each of so many connections, which are opened by `request` of their number. */
async function perConnection(
  running: ServerProcess,
  request: (connection: number) => string,
  { isAnswered, pauseMs = 0 }: { readonly isAnswered: boolean; readonly pauseMs?: number },
): Promise<number> {
  const sockets: Socket[] = [];
  for (let connection = 0; connection < connections; connection++) {
    sockets.push(await open(running.port, request(connection), isAnswered));
    if (pauseMs > 0) await setTimeout(pauseMs);
  }
  const held = await heldKb(running);
  // Against what is left, not what was there: preparing them has left much that goes by itself.
  for (const socket of sockets) socket.destroy();
  await setTimeout(3000);
  return (held - (await heldKb(running))) / connections;
}

/** So many of something, eight at a time. */
async function many<T>(make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < connections; index = next++) made[index] = await make(index);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return made;
}

const start = (kind: string) => startServer('0,1', '--expose-gc', server, kind);
async function withServer<T>(kind: string, measure: (running: ServerProcess) => Promise<T>): Promise<T> {
  const running = await start(kind);
  const result = await measure(running);
  await stopServer(running);
  return result;
}

const bareHeaders = [`Authorization: Bearer ${'t'.repeat(800)}`];
const barePoll = await withServer('fastify', (running) =>
  perConnection(running, () => http('/v1/environments/env_0/work/poll?block_ms=60000', ...bareHeaders), {
    isAnswered: false,
  }),
);
const bareStream = await withServer('ws', (running) =>
  perConnection(running, () => http('/', ...bareHeaders, ...upgrade), { isAnswered: true }),
);

const login = (running: ServerProcess) => JSON.parse(running.line) as Parameters<typeof openCaller>[0];
const poll = await withServer('gateway', async (running) => {
  const caller = await openCaller(login(running));
  const environments = await many((index) => caller.register(`worker-${index}`));
  caller.close();
  const authorization = `Authorization: ${caller.authorization}`;
  const request = (index: number) =>
    http(`/v1/environments/${environments[index] ?? ''}/work/poll?block_ms=60000`, authorization);
  return perConnection(running, request, { isAnswered: false });
});
const stream = await withServer('gateway', async (running) => {
  const caller = await openCaller(login(running));
  const environmentId = await caller.register('worker');
  const workers = await many(async () => {
    const { id } = await caller.session(environmentId);
    return { id, token: await caller.takeOver(id) };
  });
  caller.close();
  const request = (index: number) => {
    const { id = '', token = '' } = workers[index] ?? {};
    return http(
      `/v1/code/sessions/${id}/worker/events/stream`,
      `Authorization: Bearer ${token}`,
      'vendor-version: 2023-06-01',
      ...upgrade,
    );
  };
  return perConnection(running, request, { isAnswered: true, pauseMs: handshakeMs });
});

console.log(`${connections} connections; load ${loadavg()[0]?.toFixed(1) ?? ''}\n`);
console.log('| What | Bare, KiB each | Gateway, KiB each | Beside bare |');
console.log('|---|---|---|---|');
const row = (name: string, bare: number, ours: number) =>
  console.log(`| ${name} | ${bare.toFixed(1)} | ${ours.toFixed(1)} | ${(ours / bare).toFixed(2)} |`);
row('held poll, beside Fastify', barePoll, poll);
row('idle stream, beside `ws`', bareStream, stream);
process.exit();

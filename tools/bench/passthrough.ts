// What passing through costs, beside @fastify/http-proxy, a bare undici proxy and nginx (where it is installed), in one run:
// `node -C @sallyport/source tools/bench/passthrough.ts [seconds] [rounds] [part of a case's name]`.
// Each proxy runs alone on the first core; the driver and the upstream share the second one, equally for all. What a host
// that others use does to wall times it does not do to CPU time, so that is the column to trust. Prints Markdown tables.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { cpuMs, startServer, type ServerProcess } from './server-process.ts';
import { median, quantile } from './timing.ts';

const seconds = Number(process.argv[2] ?? 3);
const rounds = Number(process.argv[3] ?? 3);
const wanted = process.argv[4] ?? '';
const connections = 32;

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** nginx as one process that keeps its connections and holds nothing back; `undefined` where there is none. */
async function runNginx(upstreamPort: number): Promise<ServerProcess | undefined> {
  if (spawnSync('nginx', ['-v']).error) return undefined;
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-bench-nginx-'));
  writeFileSync(join(directory, 'nginx.conf'), nginxConf(port, upstreamPort, directory));
  const args = ['-c', '0', 'nginx', '-e', 'stderr', '-p', directory, '-c', 'nginx.conf'];
  const child = spawn('taskset', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill());
  const running = { child, port, line: '' };
  for (let attempt = 0; attempt < 100 && !(await listens(port)); attempt++) await sleep(50);
  return running;
}

function nginxConf(port: number, upstreamPort: number, directory: string): string {
  return `daemon off; master_process off; pid ${directory}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; client_max_body_size 0;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream behind { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://behind; proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off;
      proxy_set_header Connection $connection_upgrade; proxy_set_header Upgrade $http_upgrade;
    }
  }
}
`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });
}

/** One exchange after the other on one connection: `request` out, until `isWhole` of what came back. */
interface Exchange {
  readonly name: string;
  readonly request: Buffer;
  /** How many bytes of an answer come, once its head is there; or what it ends with. */
  readonly isWhole: (bytes: number, tail: Buffer) => boolean;
  /** Sent once per connection, before the exchanges; until an answer's head is there. */
  readonly opening?: string;
}

const http = (line: string, headers = '', body = '') =>
  Buffer.from(`${line} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer t\r\n${headers}\r\n${body}`);
const bigBody = 'x'.repeat(64 * 1024);

const exchanges: readonly Exchange[] = [
  {
    name: 'GET, 79 bytes',
    request: http('GET /v1/models'),
    isWhole: (_bytes, tail) => tail.includes('"end":true}'),
  },
  {
    name: 'POST 64 KiB, and back',
    request: http(
      'POST /v1/messages',
      `Content-Type: text/plain\r\nContent-Length: ${bigBody.length}\r\n`,
      bigBody,
    ),
    isWhole: (bytes) => bytes > bigBody.length,
  },
  {
    name: 'SSE, 1,000 events',
    request: http('GET /v1/messages?stream', 'Accept: text/event-stream\r\n'),
    isWhole: (_bytes, tail) => tail.includes('\r\n0\r\n\r\n'),
  },
  {
    name: 'WebSocket echo',
    opening: http(
      'GET /api/ws/voice/one',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
    ).toString(),
    // A masked text frame with a mask of zeros.
    request: Buffer.from([0x81, 0x85, 0, 0, 0, 0, ...Buffer.from('hello')]),
    isWhole: (bytes) => bytes >= 7,
  },
];

/** Answers of one kind in a while, over all connections at once: how many, and what each took. */
async function drive(port: number, exchange: Exchange, ms: number): Promise<number[]> {
  const took: number[] = [];
  const until = performance.now() + ms;
  await Promise.all(Array.from({ length: connections }, () => one(port, exchange, until, took)));
  return took;
}

async function one(port: number, exchange: Exchange, until: number, took: number[]): Promise<void> {
  const socket: Socket = connect(port, '127.0.0.1').setNoDelay(true);
  if (exchange.opening !== undefined) {
    socket.write(exchange.opening);
    const [head] = (await once(socket, 'data')) as [Buffer];
    if (!head.toString().startsWith('HTTP/1.1 101')) throw new Error(head.toString());
  }
  await new Promise<void>((resolve, reject) => {
    let from = performance.now();
    let bytes = 0;
    let tail: Buffer = Buffer.alloc(0);
    socket.once('error', reject).once('close', () => reject(new Error(`${exchange.name}: closed`)));
    socket.on('data', (chunk: Buffer) => {
      if (bytes === 0 && chunk[0] === 0x48 && !chunk.includes('HTTP/1.1 200'))
        reject(new Error(chunk.toString()));
      bytes += chunk.length;
      tail = chunk.length >= 16 ? chunk.subarray(-16) : Buffer.concat([tail, chunk]).subarray(-16);
      if (!exchange.isWhole(bytes, tail)) return;
      const now = performance.now();
      took.push(now - from);
      if (now >= until) return resolve();
      from = now;
      bytes = 0;
      socket.write(exchange.request);
    });
    socket.write(exchange.request);
  });
  socket.removeAllListeners('close').destroy();
}

/** Milliseconds until the headers of a stream are here whose first event comes a second later. */
async function headersAfter(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  const from = performance.now();
  socket.write(http('GET /v1/messages?late'));
  await once(socket, 'data');
  socket.destroy();
  return performance.now() - from;
}

const upstream = await startServer(1, here('passthrough/upstream.ts'));
const kinds = ['undici', 'http-proxy', 'sallyport'] as const;
const ways: { readonly name: string; readonly running: ServerProcess }[] = [
  { name: 'direct', running: upstream },
];
for (const kind of kinds) {
  const running = await startServer(
    0,
    here('passthrough/proxy.ts'),
    kind,
    `http://127.0.0.1:${upstream.port}`,
  );
  ways.push({ name: kind, running });
}

const nginx = await runNginx(upstream.port);
if (nginx) ways.push({ name: 'nginx', running: nginx });

for (const exchange of exchanges.filter(({ name }) => name.includes(wanted))) {
  const rates = new Map<string, number[]>();
  const cpus = new Map<string, number[]>();
  const times = new Map<string, number[]>();
  for (let round = 0; round <= rounds; round++)
    for (const { name, running } of ways) {
      const before = cpuMs(running);
      const from = performance.now();
      const took = await drive(running.port, exchange, round === 0 ? 1000 : seconds * 1000);
      if (round === 0) continue; // warm-up
      add(rates, name, took.length / ((performance.now() - from) / 1000));
      add(cpus, name, ((cpuMs(running) - before) * 1000) / took.length);
      for (const ms of took) add(times, name, ms);
    }
  console.log(`\n**${exchange.name}** (${rounds} rounds of ${seconds} s, ${connections} connections)\n`);
  console.log(
    '| | per second, median | p50 ms | p99 ms | CPU us each, median (range) |\n|---|---|---|---|---|',
  );
  for (const { name } of ways) {
    const cpu = cpus.get(name) ?? [];
    const time = times.get(name) ?? [];
    const cells = [
      Math.round(median(rates.get(name) ?? [])).toLocaleString('en'),
      median(time).toFixed(2),
      quantile(time, 0.99).toFixed(2),
      name === 'direct'
        ? '-'
        : `${median(cpu).toFixed(0)} (${Math.min(...cpu).toFixed(0)}-${Math.max(...cpu).toFixed(0)})`,
    ];
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
}

console.log('\n**Headers of a stream whose first event comes after 1,000 ms**\n\n| | ms |\n|---|---|');
for (const { name, running } of ways)
  console.log(`| ${name} | ${(await headersAfter(running.port)).toFixed(0)} |`);
process.exit();

function add(to: Map<string, number[]>, name: string, value: number): void {
  const list = to.get(name);
  if (list) list.push(value);
  else to.set(name, [value]);
}

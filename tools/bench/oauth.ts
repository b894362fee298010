// What token refresh, device authorization and discovery cost, beside oidc-provider and beside a bare Fastify that signs the
// same token and keeps nothing, in one run: `node -C @sallyport/source tools/bench/oauth.ts [seconds] [rounds]`.
// Each server has the first core alone, its threads included; the driver has the second one. oidc-provider keeps its state in
// memory; ours is on disk, and answers when it is there. Where others use the machine, CPU time is the column to trust.
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { firstPartyClient } from '@sallyport/core/contract';
import { cpuMs, startServer, type ServerProcess } from './server-process.ts';
import { median, quantile } from './timing.ts';

const seconds = Number(process.argv[2] ?? 3);
const rounds = Number(process.argv[3] ?? 5);
const connections = 64;

interface Server {
  readonly name: string;
  readonly running: ServerProcess;
  readonly paths: Readonly<Record<string, string>>;
  /** One login a connection; each refresh replaces its token. */
  readonly refreshTokens: string[];
}

async function start(name: string): Promise<Server> {
  const file = fileURLToPath(new URL('oauth/server.ts', import.meta.url));
  const running = await startServer(0, file, name, String(connections));
  return { name, running, ...(JSON.parse(running.line) as Pick<Server, 'paths' | 'refreshTokens'>) };
}

let sent = 0;
/** Each from an address of its own, as far as a server believes that. */
const post = (path = '', fields: Readonly<Record<string, string>>) => {
  const number = ++sent;
  const from = [number >> 16, number >> 8, number].map((part) => part & 255).join('.');
  const body = new URLSearchParams({ client_id: firstPartyClient.id, ...fields }).toString();
  const type = 'application/x-www-form-urlencoded';
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: 10.${from}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

interface Exchange {
  readonly name: string;
  readonly request: (server: Server, connection: number) => string;
  readonly answered?: (server: Server, connection: number, body: string) => void;
}

const exchanges: readonly Exchange[] = [
  {
    name: 'Token refresh with rotation',
    request: ({ paths, refreshTokens }, connection) =>
      post(paths['token'], {
        grant_type: 'refresh_token',
        refresh_token: refreshTokens[connection] ?? '',
      }),
    answered({ refreshTokens }, connection, body) {
      const { refresh_token: next } = JSON.parse(body) as { refresh_token: string };
      if (next === refreshTokens[connection]) throw new Error('The refresh token was not rotated.');
      refreshTokens[connection] = next;
    },
  },
  {
    name: 'Device authorization',
    request: ({ paths }) => post(paths['device'], { scope: 'profile vendor_api' }),
  },
  {
    name: 'Discovery',
    request: ({ paths }) => `GET ${paths['discovery'] ?? ''} HTTP/1.1\r\nHost: bench\r\n\r\n`,
  },
];

/** One exchange after the other on each connection; what each took, in milliseconds. */
async function drive(server: Server, exchange: Exchange, ms: number): Promise<number[]> {
  const took: number[] = [];
  const until = performance.now() + ms;
  await Promise.all(
    Array.from({ length: connections }, (_none, connection) =>
      one(server, exchange, connection, until, took),
    ),
  );
  return took;
}

async function one(
  server: Server,
  { name, request, answered }: Exchange,
  connection: number,
  until: number,
  took: number[],
): Promise<void> {
  const socket = connect(server.running.port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  await new Promise<void>((resolve, reject) => {
    let from = performance.now();
    let text = '';
    socket.once('error', reject).once('close', () => reject(new Error(`${name}: closed`)));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (end < 4 || text.length < end + length) return;
      const now = performance.now();
      if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(`${server.name}: ${text}`));
      answered?.(server, connection, text.slice(end));
      took.push(now - from);
      if (now >= until) return resolve();
      [from, text] = [now, ''];
      socket.write(request(server, connection));
    });
    socket.write(request(server, connection));
  });
  socket.removeAllListeners('close').destroy();
}

interface Measured {
  readonly rates: number[];
  readonly cpus: number[];
  readonly times: number[];
}

const servers: Server[] = [];
for (const name of ['bare', 'oidc-provider', 'sallyport']) servers.push(await start(name));

for (const exchange of exchanges) {
  const measured = new Map<string, Measured>();
  for (const { name } of servers) measured.set(name, { rates: [], cpus: [], times: [] });
  for (let round = 0; round <= rounds; round += 1)
    for (const server of servers) {
      const [before, from] = [cpuMs(server.running), performance.now()];
      const took = await drive(server, exchange, round === 0 ? 1000 : seconds * 1000);
      const counted = measured.get(server.name);
      if (round === 0 || !counted) continue; // warm-up
      counted.rates.push(took.length / ((performance.now() - from) / 1000));
      counted.cpus.push(((cpuMs(server.running) - before) * 1000) / took.length);
      counted.times.push(...took);
    }
  print(exchange, measured);
}
process.exit();

function print({ name }: Exchange, measured: ReadonlyMap<string, Measured>): void {
  const bareCpu = median(measured.get('bare')?.cpus ?? []);
  const theirRate = median(measured.get('oidc-provider')?.rates ?? []);
  console.log(`\n**${name}** (${rounds} rounds of ${seconds} s each, ${connections} connections)\n`);
  console.log(
    '| Server | Per second, median | Beside oidc-provider | p50 ms | p99 ms | CPU us each, median (range) | Beside bare |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const [server, { rates, cpus, times }] of measured) {
    const [rate, cpu] = [median(rates), median(cpus)];
    const cells = [
      Math.round(rate).toLocaleString('en'),
      (rate / theirRate).toFixed(2),
      median(times).toFixed(2),
      quantile(times, 0.99).toFixed(2),
      `${cpu.toFixed(0)} (${Math.min(...cpus).toFixed(0)}-${Math.max(...cpus).toFixed(0)})`,
      (cpu / bareCpu).toFixed(2),
    ];
    console.log(`| ${[server, ...cells].join(' | ')} |`);
  }
}

// What passing through costs, beside @fastify/http-proxy, a bare undici proxy and nginx (where it is installed), in one run:
// `node -C @sallyport/source tools/bench/passthrough.ts [seconds] [rounds] [part of a case's name]`.
// Each proxy runs alone on the first core; the driver and the upstream share the second one, equally for all. First as fast as
// each can; then all at half of what the slowest Node.js proxy came to, for the times that a caller sees. What a host that
// others use does to wall times it does not do to CPU time, so that is the column to trust, and the ratio to the
// @fastify/http-proxy of the same round. Prints Markdown tables.
import { fileURLToPath } from 'node:url';
import { drive, exchanges, headersAfter, pace } from './passthrough/driver.ts';
import { runNginx } from './passthrough/nginx.ts';
import { cpuMs, startServer, type ServerProcess } from './server-process.ts';
import { median, quantile } from './timing.ts';

const seconds = Number(process.argv[2] ?? 3);
const rounds = Number(process.argv[3] ?? 3);
const wanted = process.argv[4] ?? '';
const connections = 32;
/** Until the compiler is done with each of them: with a second of it the first rounds still measure the interpreter. */
const warmUpMs = 6000;

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

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

/** What one way came to, a figure a round; but `ms`: those of all rounds together. */
interface Measured {
  readonly rates: number[];
  readonly cpuUs: number[];
  readonly ms: number[];
  readonly pacedP50: number[];
  readonly pacedP99: number[];
}

for (const exchange of exchanges.filter(({ name }) => name.includes(wanted))) {
  const measured = new Map<string, Measured>(
    ways.map(({ name }) => [name, { rates: [], cpuUs: [], ms: [], pacedP50: [], pacedP99: [] }]),
  );
  const of = (name: string) => measured.get(name) as Measured;
  for (let round = 0; round <= rounds; round++)
    for (const { name, running } of ways) {
      const before = cpuMs(running);
      const from = performance.now();
      const took = await drive(running.port, exchange, connections, round === 0 ? warmUpMs : seconds * 1000);
      if (round === 0) continue; // warm-up
      of(name).rates.push(took.length / ((performance.now() - from) / 1000));
      of(name).cpuUs.push(((cpuMs(running) - before) * 1000) / took.length);
      for (const ms of took) of(name).ms.push(ms);
    }
  const half = Math.min(...kinds.map((name) => median(of(name).rates))) / 2;
  for (let round = 0; round < rounds; round++)
    for (const { name, running } of ways) {
      const took = await pace(running.port, exchange, connections, half, seconds * 1000);
      of(name).pacedP50.push(median(took));
      of(name).pacedP99.push(quantile(took, 0.99));
    }

  console.log(`\n**${exchange.name}** (${rounds} rounds of ${seconds} s, ${connections} connections)\n`);
  console.log(
    `| | per second, median | p50 ms | p99 ms | CPU us each, median (range) | CPU beside http-proxy | p50, p99 ms at ${half.toFixed(0)} a second |\n|---|---|---|---|---|---|---|`,
  );
  for (const { name } of ways) {
    const { rates, cpuUs, ms, pacedP50, pacedP99 } = of(name);
    const beside = cpuUs.map((us, i) => us / (of('http-proxy').cpuUs[i] ?? NaN));
    const cells = [
      Math.round(median(rates)).toLocaleString('en'),
      median(ms).toFixed(2),
      quantile(ms, 0.99).toFixed(2),
      name === 'direct'
        ? '-'
        : `${median(cpuUs).toFixed(0)} (${Math.min(...cpuUs).toFixed(0)}-${Math.max(...cpuUs).toFixed(0)})`,
      name === 'direct' ? '-' : median(beside).toFixed(2),
      `${median(pacedP50).toFixed(2)}, ${median(pacedP99).toFixed(2)}`,
    ];
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
}

console.log('\n**Headers of a stream whose first event comes after 1,000 ms**\n\n| | ms |\n|---|---|');
for (const { name, running } of ways)
  console.log(`| ${name} | ${(await headersAfter(running.port)).toFixed(0)} |`);
process.exit();

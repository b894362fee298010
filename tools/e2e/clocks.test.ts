import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Program } from './process.ts';
import { ClockBench } from './steps/clock-bench.ts';
import type { LoggedEvent } from './steps/session-log.ts';
import { topologies } from './topologies.ts';

// Many programs at the same time.
vi.setConfig({ testTimeout: 60_000 });

const hourMs = 3_600_000;

const jumps = topologies.flatMap((topology) =>
  [...topology.gateways, 'bridge' as const].flatMap((whose) =>
    [2, -1].map((by) => ({ topology, whose, by })),
  ),
);

test.concurrent.each(jumps)(
  'the clock of the $whose jumps by $by h while a session runs, and nothing is lost: $topology.name',
  async ({ topology, whose, by }) => {
    await using bench = new ClockBench(topology);
    const clockOf = (who: typeof whose) => (who === whose ? bench.shifted : {});
    const gateways = new Map<string, Program>();
    for (const name of topology.gateways.toReversed())
      gateways.set(name, await bench.start(name, [], clockOf(name)));
    await bench.login();
    const bridge = bench.sallyport(['bridge', 'run', '--exec', command], { env: clockOf('bridge') });
    await bridge.shows(/Waiting for work/);
    const run = bench.sallyport(['session', 'run', 'look']);
    await run.shows(/^one$/m);

    bench.set(by * hourMs);
    // Tokens have run out, or the machine seems to have slept: the worker finds its way back. In front none are looked at.
    if (by > 0 && whose !== 'gateway in front')
      await gateways.get('gateway')!.shows(/"row":"worker.register"[^]*"row":"worker.register"/);
    writeFileSync(join(bench.folder, 'go'), '');
    expect(await run.end(), run.screen).toBe(0);
    expect(run.stdout).toBe('one\ntwo\n');
    expect(run.stderr).not.toContain('queued');
    const next = bench.sallyport(['session', 'run', 'next']);
    expect(await next.end(), next.screen).toBe(0);
    expect(await bridge.stop('SIGINT'), bridge.screen).toBe(0);
    expect(readFileSync(join(bench.folder, 'trace'), 'utf8')).toBe('start\nstart\n');

    // The clock has jumped indeed: ids begin with the time at which they were made.
    const [early = '', late = ''] = await {
      gateway: () => sessionIds(run, next),
      'gateway in front': () => logTimes(gateways.get(whose)!),
      bridge: () => outputIds(bench, run),
    }[whose]();
    expect(Math.sign(early < late ? 1 : -1)).toBe(Math.sign(by));
  },
);

const command = 'echo one; echo start >>trace; while [ ! -e go ]; do sleep 0.1; done; echo two';

function sessionIds(...runs: Program[]): string[] {
  return runs.map(({ stderr }) => /session_\w+/.exec(stderr)?.[0] ?? '');
}

/** Of the first line and the last. */
function logTimes({ stderr }: Program): string[] {
  const times = stderr.match(/"time":"?[^",]+/g) ?? [];
  return [times.at(0)!, times.at(-1)!];
}

/** Of the two lines that the session put out. */
async function outputIds(bench: ClockBench, run: Program): Promise<string[]> {
  const logs = bench.sallyport(['--json', 'session', 'logs', ...sessionIds(run)]);
  await logs.end();
  const events = logs.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LoggedEvent);
  return events.filter(({ type }) => type === 'session.output').map(({ id }) => id);
}

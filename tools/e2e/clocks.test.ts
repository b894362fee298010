import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Program } from './process.ts';
import { ClockBench } from './steps/clock-bench.ts';
import type { LoggedEvent } from './steps/session-log.ts';

const hourMs = 3_600_000;

test.concurrent.each([
  ['gateway', 2],
  ['gateway', -1],
  ['bridge', 2],
  ['bridge', -1],
] as const)(
  'the clock of the %s jumps by %d h while a session runs, and nothing is lost',
  async (whose, by) => {
    await using bench = new ClockBench();
    const clockOf = (who: string) => ({ env: who === whose ? bench.shifted : {} });
    const gateway = bench.run('sallyport-gateway', ['start'], clockOf('gateway'));
    const [, url = ''] = await gateway.shows(/^listening on (http:\S+)$/m);
    bench.baseUrl = url;
    await bench.login();
    const bridge = bench.sallyport(['bridge', 'run', '--exec', command], clockOf('bridge'));
    await bridge.shows(/Waiting for work/);
    const run = bench.sallyport(['session', 'run', 'look']);
    await run.shows(/^one$/m);

    bench.set(by * hourMs);
    // Tokens have run out, or the machine seems to have slept: the worker finds its way back.
    if (by > 0) await gateway.shows(/"row":"worker.register"[^]*"row":"worker.register"/);
    writeFileSync(join(bench.folder, 'go'), '');
    expect(await run.end(), run.screen).toBe(0);
    expect(run.stdout).toBe('one\ntwo\n');
    expect(run.stderr).not.toContain('queued');
    const next = bench.sallyport(['session', 'run', 'next']);
    expect(await next.end(), next.screen).toBe(0);
    expect(await bridge.stop('SIGINT'), bridge.screen).toBe(0);
    expect(readFileSync(join(bench.folder, 'trace'), 'utf8')).toBe('start\nstart\n');

    // Ids begin with the time at which they were made: the clock has jumped indeed.
    const [early = '', late = ''] = await (whose === 'gateway'
      ? sessionIds(run, next)
      : outputIds(bench, run));
    expect(Math.sign(early < late ? 1 : -1)).toBe(Math.sign(by));
  },
);

const command = 'echo one; echo start >>trace; while [ ! -e go ]; do sleep 0.1; done; echo two';

function sessionIds(...runs: Program[]): string[] {
  return runs.map(({ stderr }) => /session_\w+/.exec(stderr)?.[0] ?? '');
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

// claude-code#53563, #67360, #36482: bridges that shared a login spent its refresh token one by one, and lost their sessions.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ClockBench } from './steps/clock-bench.ts';
import { topologies } from './topologies.ts';

vi.setConfig({ testTimeout: 120_000 });

const hourMs = 3_600_000;
const names = ['one', 'two', 'three', 'four'];
/** Says that it runs and that it was asked to end, and ends by itself when it may. */
const patient = `echo started >> trace; trap 'echo killed >> trace; exit 7' INT TERM; while [ ! -e go ]; do sleep 0.1; done; echo over >> trace`;

test.each(topologies)(
  'four bridges with one login that runs out renew it once; a refusal of two minutes costs no session: $name',
  async (topology) => {
    await using bench = new ClockBench(topology);
    const gateway = await bench.gateway();
    await bench.login();
    const admin = async (...args: string[]) => {
      const command = bench.run('sallyport-gateway', ['admin', 'user', ...args]);
      expect(await command.end(), command.screen).toBe(0);
    };
    await admin('add', 'second@example.com', '--role', 'admin'); // an organization is never without one

    const bridges = await Promise.all(
      names.map(async (name) => {
        const dir = join(bench.folder, name);
        mkdirSync(dir);
        const args = ['bridge', 'run', '--dir', dir, '--name', name, '--exec', patient];
        const program = bench.sallyport(args, { env: bench.shifted });
        const [, id = ''] = await program.shows(/environment (env_\w+)/i);
        await program.shows(/Waiting for work/);
        const session = bench.sallyport(['session', 'run', 'look', '--env', id, '--detach']);
        expect(await session.end(), session.screen).toBe(0);
        await program.shows(/Session \w+ started/);
        return { dir, id, program, session: session.stdout.trim() };
      }),
    );
    const trace = () => bridges.map(({ dir }) => readFileSync(join(dir, 'trace'), 'utf8'));
    const counted = (row: string, status: number) =>
      gateway.stderr
        .split('\n')
        .filter((line) => line.includes(`"row":"${row}"`) && line.includes(`"status":${status},`)).length;
    const before = counted('oauth.token', 200);

    // The machine sleeps until its login has run out.
    const registered = counted('worker.register', 200);
    bench.set(2 * hourMs);
    await gateway.until(
      () => counted('worker.register', 200) >= registered + names.length,
      'every worker being back',
    );
    expect(counted('oauth.token', 200) - before).toBe(1);
    expect(counted('oauth.token', 400)).toBe(0);

    await admin('role', 'owner@localhost', 'viewer');
    for (const minute of [1, 2]) {
      bench.set(2 * hourMs + minute * 60_000);
      await gateway.until(
        () => counted('bridge.poll', 403) >= minute * names.length,
        'every bridge being refused',
      );
    }
    await admin('role', 'owner@localhost', 'admin');
    bench.set(2 * hourMs + 180_000);
    for (const { program } of bridges)
      await program.shows(/Waiting for work[^]*trying again each 60 s[^]*Waiting for work/);
    expect(trace()).toEqual(names.map(() => 'started\n'));

    for (const { dir } of bridges) writeFileSync(join(dir, 'go'), '');
    const wait = ['session', 'wait', ...bridges.map(({ session }) => session)];
    const waiting = bench.sallyport(wait, { env: bench.shifted });
    expect(await waiting.end(), waiting.screen).toBe(0);
    expect(trace()).toEqual(names.map(() => 'started\nover\n'));
    await Promise.all(
      bridges.map(async ({ program, id }) => {
        const next = bench.sallyport(['session', 'run', 'next', '--env', id], { env: bench.shifted });
        expect(await next.end(), next.screen).toBe(0);
        expect(await program.stop('SIGINT'), program.screen).toBe(0);
      }),
    );
    expect(counted('oauth.token', 200) - before).toBe(1);
  },
);

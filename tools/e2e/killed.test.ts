import { describe, expect, onTestFailed, test, vi } from 'vitest';
import { benchPool } from './steps/bench-pool.ts';
import type { StepBench } from './steps/bench.ts';
import { Job, type Outcome } from './steps/job.ts';
import type { Side, Step } from './steps/proxy.ts';
import { within } from './steps/within.ts';
import { topologies, type GatewayName } from './topologies.ts';

vi.setConfig({ testTimeout: 40_000 });

// `flock`, and looking for processes by their environment.
const onLinux = describe.skipIf(process.platform !== 'linux').concurrent;

interface Death {
  readonly step: Step;
  readonly side: Side;
  /** The gateway before which the step is held; default: the one that clients go to. */
  readonly before?: GatewayName;
  readonly kill: (bench: StepBench, job: Job) => Promise<void>;
  readonly revive?: (bench: StepBench, job: Job) => unknown;
  /** What happens to the passage in which it was; default: it is cut. */
  readonly then?: 'pass' | 'cut';
}

/** The main job, with a death in the middle of one of its steps. */
async function jobWith(
  benches: StepBench[],
  { step, side, before, kill, revive, then = 'cut' }: Death,
): Promise<Outcome> {
  const bench = benches.pop()!;
  const job = new Job(bench);
  const proxy = before === undefined ? bench.proxy : bench.proxyBefore(before);
  onTestFailed(() => console.error(`${bench.seen}\n${job.screen}`));
  const run = async () => {
    const hasDied = proxy.holdAt(step, side, async () => {
      await kill(bench, job);
      return then;
    });
    const isOver = hasDied.then(() => revive?.(bench, job));
    job.startBridge();
    if (step === 'register' || (step === 'poll' && side === 'before')) await isOver;
    await job.startSession();
    if (step !== 'worker.exited') await isOver;
    job.go();
    await isOver;
    const outcome = await job.outcome();
    await job.end();
    return outcome;
  };
  try {
    return await within(30_000, run());
  } finally {
    await job.abandon();
    benches.push(bench);
  }
}

type Place = readonly [Step, Side];
const sides = (...steps: readonly Step[]): Place[] =>
  steps.flatMap((step) => [[step, 'before'] as const, [step, 'after'] as const]);

const whole = 'one\nprompts: 1\ntwo\n';
const done = { exitCode: 0, status: 'done', output: whole, starts: 1 };

describe.each(topologies)('$name', (topology) => {
  const benches = benchPool(topology);
  onLinux.each(topology.gateways)('the %s is killed', (name) => {
    const death = {
      before: name,
      kill: (bench: StepBench) => bench.kill(name),
      revive: (bench: StepBench) => bench.start(name),
    };
    test.each([
      ...sides('register', 'create', 'poll', 'ack', 'handshake', 'worker.register', 'stream'),
      ...sides('worker.ready', 'worker.exited'),
    ])('at %s, %s the answer: the job goes on, and ends well', async (step, side) => {
      expect(await jobWith(benches, { step, side, ...death })).toEqual(done);
    });
  });

  onLinux('the bridge is killed', () => {
    const death = {
      kill: (_: StepBench, job: Job) => job.killBridge(),
      revive: (_: StepBench, job: Job) => job.startBridge(),
    };
    test.each([...sides('register', 'poll'), ['ack', 'before'] as const])(
      'at %s, %s the answer: the work is given to it again',
      async (step, side) => {
        expect(await jobWith(benches, { step, side, ...death })).toEqual(done);
      },
    );

    test.each([['ack', 'after'] as const, ...sides('handshake', 'worker.register')])(
      'at %s, %s the answer: what was not started yet is started by the next one',
      async (step, side) => {
        expect(await jobWith(benches, { step, side, ...death })).toEqual(done);
      },
    );

    const running = {
      ...death,
      async kill(_: StepBench, job: Job) {
        await job.started();
        await job.killBridge();
      },
    };
    test.each(sides('stream', 'worker.ready'))(
      'at %s, %s the answer: the process ends with it, and the next one ends the work',
      async (step, side) => {
        const { output, ...outcome } = await jobWith(benches, { step, side, ...running });
        expect(outcome).toEqual({ exitCode: 1, status: 'stopped', reason: 'bridge_killed', starts: 1 });
        expect(whole.startsWith(output)).toBe(true);
      },
    );

    test('at worker.exited, before the answer: the output is whole, the end unknown', async () => {
      expect(await jobWith(benches, { step: 'worker.exited', side: 'before', ...running })).toEqual({
        ...done,
        exitCode: 1,
        status: 'stopped',
        reason: 'bridge_killed',
      });
    });

    test('at worker.exited, after the answer: it was done already', async () => {
      expect(await jobWith(benches, { step: 'worker.exited', side: 'after', ...running })).toEqual(done);
    });
  });

  onLinux("the session's process is killed", () => {
    test.each(sides('stream', 'worker.ready', 'session.output'))(
      'at %s, %s the answer: the session has failed, and nothing of it is left',
      async (step, side) => {
        const kill = (_: StepBench, job: Job) => job.killProcess();
        const { output, ...outcome } = await jobWith(benches, { step, side, kill, then: 'pass' });
        expect(outcome).toEqual({ exitCode: 1, status: 'failed', starts: 1 });
        // What waits for the end of the input outlives the shell, until the bridge sees to it.
        expect(output).toMatch(/^one\n(prompts: [01]\n)?$/);
      },
    );
  });
});

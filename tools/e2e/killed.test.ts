import { afterAll, beforeAll, describe, expect, onTestFailed, test, vi } from 'vitest';
import { StepBench } from './steps/bench.ts';
import { Job, type Outcome } from './steps/job.ts';
import type { Side, Step } from './steps/proxy.ts';
import { shortTerms } from './steps/short-terms.ts';
import { within } from './steps/within.ts';

// The jobs wait more than they work.
const maxConcurrency = 8;
vi.setConfig({ maxConcurrency });
/** One for each test that runs at the same time. */
const benches: StepBench[] = [];
beforeAll(async () => {
  benches.push(
    ...(await Promise.all(Array.from({ length: maxConcurrency }, () => new StepBench(shortTerms).open()))),
  );
}, 60_000);
afterAll(async () => {
  await Promise.all(benches.map((bench) => bench[Symbol.asyncDispose]()));
});

// `flock`, and looking for processes by their environment.
const onLinux = describe.skipIf(process.platform !== 'linux').concurrent;

interface Death {
  readonly step: Step;
  readonly side: Side;
  readonly kill: (bench: StepBench, job: Job) => Promise<void>;
  readonly revive?: (bench: StepBench, job: Job) => Promise<void> | void;
  /** What happens to the passage in which it was; default: it is cut. */
  readonly then?: 'pass' | 'cut';
}

/** The main job, with a death in the middle of one of its steps. */
async function jobWith(
  { step, side, kill, revive, then = 'cut' }: Death,
  limitMs = 18_000,
): Promise<Outcome> {
  const bench = benches.pop()!;
  const job = new Job(bench);
  onTestFailed(() => console.error(`${bench.proxy.seen.join('\n')}\n${job.screen}`));
  const run = async () => {
    const hasDied = bench.proxy.holdAt(step, side, async () => {
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
    return await within(limitMs, run());
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

onLinux('the gateway is killed', () => {
  const death = {
    kill: (bench: StepBench) => bench.killGateway(),
    revive: (bench: StepBench) => bench.startGateway(),
  };
  test.each([
    ...sides('register', 'create', 'poll', 'ack', 'handshake', 'worker.register', 'stream'),
    ...sides('worker.ready', 'worker.exited'),
  ])('at %s, %s the answer: the job goes on, and ends well', async (step, side) => {
    expect(await jobWith({ step, side, ...death })).toEqual(done);
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
      expect(await jobWith({ step, side, ...death })).toEqual(done);
    },
  );

  test.each([['ack', 'after'] as const, ...sides('handshake', 'worker.register')])(
    'at %s, %s the answer: what was not started yet is started by the next one',
    async (step, side) => {
      expect(await jobWith({ step, side, ...death }, 9_000)).toEqual(done);
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
      const { output, ...outcome } = await jobWith({ step, side, ...running });
      expect(outcome).toEqual({ exitCode: 1, status: 'stopped', reason: 'bridge_killed', starts: 1 });
      expect(whole.startsWith(output)).toBe(true);
    },
  );

  test('at worker.exited, before the answer: the output is whole, the end unknown', async () => {
    expect(await jobWith({ step: 'worker.exited', side: 'before', ...running })).toEqual({
      ...done,
      exitCode: 1,
      status: 'stopped',
      reason: 'bridge_killed',
    });
  });

  test('at worker.exited, after the answer: it was done already', async () => {
    expect(await jobWith({ step: 'worker.exited', side: 'after', ...running })).toEqual(done);
  });
});

onLinux("the session's process is killed", () => {
  test.each(sides('stream', 'worker.ready', 'session.output'))(
    'at %s, %s the answer: the session has failed, and nothing of it is left',
    async (step, side) => {
      const kill = (_: StepBench, job: Job) => job.killProcess();
      const { output, ...outcome } = await jobWith({ step, side, kill, then: 'pass' });
      expect(outcome).toEqual({ exitCode: 1, status: 'failed', starts: 1 });
      // What waits for the end of the input outlives the shell, until the bridge sees to it.
      expect(output).toMatch(/^one\n(prompts: [01]\n)?$/);
    },
  );
});

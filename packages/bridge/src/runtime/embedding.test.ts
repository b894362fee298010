import { expect, expectTypeOf, test } from 'vitest';
import type { EventData, RuntimeEvent } from '../index.ts';
import type { Execution, Executor, Exit, Job, StopSignal } from './executor.ts';
import { logEvent, workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start } = useBench();

/** An executor in this very process: what it was given and told, and the way to end it. */
function inProcess() {
  const jobs: Job[] = [];
  const delivered: string[] = [];
  const signals: StopSignal[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<Exit>();
  const run: Executor = (job): Execution => {
    jobs.push(job);
    return {
      pid: undefined,
      ended,
      deliver: ({ type }) => void delivered.push(type),
      endInput: () => void delivered.push('end of input'),
      pause: () => undefined,
      resume: () => undefined,
      signal(signal) {
        signals.push(signal);
        end({ exitCode: null, signal });
      },
    };
  };
  return { run, jobs, delivered, signals, end };
}

test('an executor of the embedder gets the events, emits its own and says how it ended', async () => {
  service.backlog = [logEvent(1, 'session.message', { text: 'hi' })];
  service.grantSession('session_a');
  const { run, jobs, delivered, end } = inProcess();
  const bench = start({ run });
  const stream = await service.streams.until(() => true);
  await stream.frames.until(({ type, seq }) => type === 'ack' && seq === 1);
  await bench.until('session.started');
  expect(jobs).toMatchObject([
    { sessionId: 'session_a', workId: workOf('session_a'), environmentId: 'env_1' },
  ]);
  jobs[0]!.emit('tool.call', { name: 'search' });
  end({ exitCode: 4, signal: null });
  expect(await bench.until('session.ended')).toMatchObject({ reason: 'exited', exitCode: 4 });
  expect(delivered).toEqual(['session.message', 'end of input']);
  const sent = stream.frames.all.filter(({ id }) => id !== undefined);
  expect(sent.map(({ type, data }) => [type, data])).toEqual([
    ['worker.ready', { interactive: false }],
    ['tool.call', { name: 'search' }],
    ['worker.exited', { exit_code: 4, signal: null }],
  ]);
});

test('an executor of the embedder is stopped as a process is', async () => {
  service.grantSession('session_a');
  const { run, signals } = inProcess();
  const bench = start({ run });
  const stream = await service.streams.until(() => true);
  await bench.until('session.started');
  stream.send(logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 }));
  expect(await bench.until('session.ended')).toMatchObject({ reason: 'stopped', signal: 'SIGINT' });
  expect(signals).toEqual(['SIGINT']);
});

test('an executor that throws is a session that failed, and the bridge goes on', async () => {
  service.grantSession('session_a');
  let calls = 0;
  const bench = start({
    run: (job) => {
      if ((calls += 1) === 1) throw new Error('no room');
      return { ...inProcess().run(job), ended: Promise.resolve({ exitCode: 0, signal: null }) };
    },
  });
  expect(await bench.until('session.ended')).toMatchObject({ exitCode: 127 });
  expect(bench.of('session.output')).toMatchObject([{ text: 'cannot start: no room' }]);
  service.grantSession('session_b');
  await bench.until('session.ended', 2);
});

test.each(['ended', 'deliver'] as const)(
  'an executor whose `%s` rejects is a session that failed, and the bridge goes on',
  async (part) => {
    service.backlog = [logEvent(1, 'session.message', { text: 'hi' })];
    service.grantSession('session_a');
    const refused = () => Promise.reject(new Error('no more'));
    const { run, end } = inProcess();
    const bench = start({
      run: (job) => {
        const execution = run(job);
        if (part === 'deliver') setImmediate(end, { exitCode: 1, signal: null });
        return { ...execution, [part]: part === 'ended' ? refused() : refused };
      },
    });
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'exited', exitCode: 1 });
    expect(bench.of('session.output')).toHaveLength(part === 'ended' ? 1 : 0);
    service.grantSession('session_b');
    await bench.until('session.started', 2);
  },
);

test('work of a kind of its own is asked for, and run by what is for it; other kinds are not', async () => {
  const { run, jobs, end } = inProcess();
  const bench = start({ run: 'true', executors: { review: run } });
  service.grant({ id: 'work_x', data: { type: 'backup', id: 'session_x' } });
  service.grant({ id: workOf('session_r'), data: { type: 'review', id: 'session_r' } });
  await bench.until('session.started');
  end({ exitCode: 0, signal: null });
  await bench.until('session.ended');
  service.grantSession('session_s');
  await bench.until('session.ended', 2);
  expect(jobs.map(({ sessionId }) => sessionId)).toEqual(['session_r']);
  expect(bench.of('work.skipped')).toMatchObject([{ workId: 'work_x' }]);
  const { query } = await service.called('poll');
  expect(query.get('types')?.split(',').sort()).toEqual(['review', 'session']);
});

test('without other kinds a poll does not speak of kinds', async () => {
  start({ run: 'true' });
  expect((await service.called('poll')).query.has('types')).toBe(false);
});

test('the ingress token is what the embedder derives, and the JWT stays what proves the holder', async () => {
  service.grantSession('session_a');
  const bench = start({ run: 'true', deriveIngressToken: (jwt) => `ingress(${jwt})` });
  await bench.until('session.ended');
  const [registered] = service.calls.all.filter(({ route }) => route === 'worker');
  expect(registered?.headers.authorization).toBe('Bearer ingress(jwt-1)');
  expect(service.streams.all.map(({ token }) => token)).toEqual(['ingress(jwt-1)']);
});

test('events have types', () => {
  expectTypeOf<Extract<RuntimeEvent, { type: 'session.ended' }>['exitCode']>().toEqualTypeOf<number | null>();
  expectTypeOf<EventData['control.permission_response']['behavior']>().toEqualTypeOf<'allow' | 'deny'>();
});

import { ManualClock } from '@sallyport/core/testing';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { Bench } from './bench.ts';
import { FakeService, type FakeStream } from './fake-service.ts';

type Options = ConstructorParameters<typeof Bench>[1];

/** A fake service for all tests of a file; what a test starts is ended after it. */
export function useBench() {
  const service = new FakeService();
  const benches: Bench[] = [];
  beforeAll(async () => {
    await service.start();
  });
  afterEach(async () => {
    for (const bench of benches.splice(0)) {
      bench.signal();
      bench.runtime.kill();
      bench.runtime.kill(); // at once: a test that failed has no service to tell
      await bench.result.catch(() => undefined);
    }
    service.reset();
  });
  afterAll(() => service.crash());

  const start = (options: Options): Bench => {
    const bench = new Bench(service, options);
    benches.push(bench);
    return bench;
  };

  /** A bench on a clock that goes on by itself whenever the bridge says that it waits. */
  const startImpatient = (options: Omit<Options, 'clock' | 'on'>): Bench => {
    const clock = new ManualClock();
    const bench: Bench = start({
      ...options,
      clock,
      on(event) {
        bench.events.add(event);
        if ('retryInMs' in event) void clock.advance(event.retryInMs);
      },
    });
    return bench;
  };

  /** A bench that runs the session `session_a`, with its stream open. */
  const startSession = async (
    run: Options['run'],
    options: Partial<Options> = {},
  ): Promise<{ bench: Bench; stream: FakeStream }> => {
    const bench = start({ ...options, run });
    service.grantSession('session_a');
    return { bench, stream: await service.streams.until(() => true) };
  };

  return { service, start, startImpatient, startSession };
}

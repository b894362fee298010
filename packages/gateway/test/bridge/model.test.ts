import fc from 'fast-check';
import { test, vi } from 'vitest';
import { World, type Step } from './world.ts';

vi.setConfig({ testTimeout: 60_000 });

const bridge = fc.nat(1);
const holder = fc.nat(3);
const session = fc.nat(3);
const of = fc.constantFrom;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant({ do: 'create' as const }),
  // `start`: poll, ack and run, one after the other, as a bridge does.
  {
    weight: 4,
    arbitrary: fc.record({
      do: of('poll' as const, 'ack', 'run', 'start', 'start', 'start', 'leave'),
      bridge,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: of('crash' as const, 'reopen', 'reopen', 'exit', 'say', 'say', 'resend'),
      holder,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: of('reconnect' as const), session, isProven: fc.boolean() }) },
  fc.record({ do: of('stop' as const, 'force'), session }),
  fc.record({ do: of('pass' as const), seconds: of(1, 11, 40, 61, 301) }),
);

test('no interleaving gives work two live workers, loses what was acknowledged, or stores an event twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = new World();
      await world.start();
      for (const given of steps) {
        await world.take(given);
        await world.check();
      }
      await world.harness.engine.stop();
      world.harness.db.close();
    }),
    { numRuns: 150 },
  );
});

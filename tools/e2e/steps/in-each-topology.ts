import { afterAll, beforeAll, describe, vi } from 'vitest';
import { Installation } from '../installation.ts';
import { topologies } from '../topologies.ts';

/** What the tests of one topology share. */
export interface Shared {
  /** One for all of them; there once they run. */
  readonly installation: Installation;
}

/** Describes what holds in each topology, where the gateways run and the owner is logged in. */
export function inEachTopology(tests: (the: Shared) => void): void {
  // Many programs, one after the other, on a machine that may be busy.
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  describe.each(topologies)('$name', (topology) => {
    let installation: Installation | undefined;
    beforeAll(async () => {
      installation = new Installation(topology);
      await installation.gateway();
      await installation.login();
    });
    afterAll(() => installation?.[Symbol.asyncDispose]());
    tests({
      get installation() {
        if (!installation) throw new Error('The installation is there once the tests run.');
        return installation;
      },
    });
  });
}

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeRuntime, type BridgeRuntimeOptions, type RuntimeEvent } from '@sallyport/bridge';
import { onTestFinished } from 'vitest';

type Given = Pick<BridgeRuntimeOptions, 'baseUrl' | 'transport' | 'tokens' | 'run'> &
  Partial<BridgeRuntimeOptions>;

/** A bridge of the product on a gateway of the test, without pauses; it is ended with the test. */
export function runBridge(options: Given) {
  const events: RuntimeEvent[] = [];
  const waiting = new Set<() => void>();
  const stop = new AbortController();
  const runtime = new BridgeRuntime({
    deviceToken: { token: () => Promise.resolve('device') },
    runnerVersion: '1.0.0',
    directory: tmpdir(),
    stateDir: temporaryState(),
    random: { fraction: () => 0, bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
    on: (event) => {
      events.push(event);
      for (const look of waiting) look();
    },
    ...options,
  });
  const result = runtime.run(stop.signal);
  result.catch(() => undefined);
  onTestFinished(async () => {
    runtime.kill();
    runtime.kill();
    await result.catch(() => undefined);
  });

  /** The first event of that type, or the `count`th. */
  const until = <T extends RuntimeEvent['type']>(
    type: T,
    count = 1,
  ): Promise<Extract<RuntimeEvent, { type: T }>> =>
    new Promise((resolve) => {
      const look = () => {
        const found = events.filter(
          (event): event is Extract<RuntimeEvent, { type: T }> => event.type === type,
        )[count - 1];
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });

  return { runtime, events, until, result, stop: () => stop.abort() };
}

export function temporaryState(): string {
  return mkdtempSync(join(tmpdir(), 'sallyport-bridge-'));
}

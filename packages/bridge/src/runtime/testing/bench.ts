import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds, systemClock, systemRandom } from '@sallyport/core';
import { undiciTransport } from '@sallyport/core/client';
import type { RuntimeEvent } from '../events.ts';
import type { BridgeRuntimeOptions, RunResult } from '../options.ts';
import { BridgeRuntime } from '../runtime.ts';
import type { FakeService } from './fake-service.ts';
import { Recorder } from './recorder.ts';

type EventOf<T extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: T }>;

/** A runtime under test, and what it says. */
export class Bench {
  readonly events = new Recorder<RuntimeEvent>();
  readonly runtime: BridgeRuntime;
  readonly stateDir: string;
  readonly result: Promise<RunResult>;
  readonly #stop = new AbortController();

  constructor(
    service: FakeService,
    options: Partial<BridgeRuntimeOptions> & Pick<BridgeRuntimeOptions, 'run'>,
  ) {
    this.stateDir = options.stateDir ?? temporaryFolder();
    this.runtime = new BridgeRuntime({
      baseUrl: service.url,
      transport: undiciTransport({ proxyFromEnvironment: false }),
      tokens: { token: async () => 'access' },
      deviceToken: { token: async () => 'device' },
      runnerVersion: '1.2.3',
      directory: temporaryFolder(),
      name: 'bench',
      // No back-off: a test waits for what happens, not for time.
      random: { fraction: () => 0, bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
      ids: createIds(systemClock, systemRandom),
      on: this.events.add,
      ...options,
      stateDir: this.stateDir,
    });
    this.result = this.runtime.run(this.#stop.signal);
  }

  until<T extends RuntimeEvent['type']>(type: T, count = 1): Promise<EventOf<T>> {
    return this.events.until((event): event is EventOf<T> => event.type === type, count);
  }

  of<T extends RuntimeEvent['type']>(type: T): EventOf<T>[] {
    return this.events.all.filter((event): event is EventOf<T> => event.type === type);
  }

  signal(): void {
    this.#stop.abort();
  }

  stop(): Promise<RunResult> {
    this.signal();
    return this.result;
  }
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'sallyport-bridge-'));
}

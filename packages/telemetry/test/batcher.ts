import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { http1Transport } from '@sallyport/core/client';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { onTestFinished } from 'vitest';
import { TelemetryBatcher } from '../src/client/batcher.ts';
import type { TelemetryBatcherOptions } from '../src/client/options.ts';

/** A directory that goes with the test; `spool` in it does not exist yet. */
export function scratch(): { readonly directory: string; readonly spoolDir: string } {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-telemetry-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, spoolDir: join(directory, 'state', 'spool') };
}

/** A batcher on a manual clock with a token, which leaves the test's process alone. */
export function makeBatcher(options: Partial<TelemetryBatcherOptions> & { readonly baseUrl: string }) {
  const clock = new ManualClock();
  const transport = http1Transport();
  onTestFinished(() => transport.close());
  const batcher = new TelemetryBatcher({
    transport,
    clock,
    random: seededRandom(),
    tokens: { token: () => Promise.resolve('token') },
    serviceName: 'agent_desktop',
    serviceVersion: '1.2.3',
    env: {},
    installExitHandlers: false,
    ...options,
  });
  return { batcher, clock };
}

/** Events `e0`, `e1` and so on. */
export function emit(batcher: TelemetryBatcher, count: number, from = 0): void {
  for (let index = from; index < from + count; index += 1) batcher.emit({ name: `e${index}` });
}

/** Their names. */
export const names = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `e${index + from}`);

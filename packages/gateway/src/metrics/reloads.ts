import type { Clock } from '@sallyport/core';
import type { StatSource } from './sources.ts';

/** Runs reloads one after the other, and counts how they end. */
export function createReloads(clock: Clock): {
  run(reload: () => Promise<void>): Promise<void>;
  readonly stats: StatSource;
} {
  const counts = { ok: 0, failed: 0 };
  let lastAt = clock.now();
  let running: Promise<void> = Promise.resolve();

  async function counted(reload: () => Promise<void>): Promise<void> {
    try {
      await reload();
      counts.ok++;
      lastAt = clock.now();
    } catch (error) {
      counts.failed++;
      throw error;
    }
  }

  return {
    run(reload) {
      const turn = running.then(() => counted(reload));
      running = turn.catch(() => undefined);
      return turn;
    },
    stats: () => [
      ...(['ok', 'failed'] as const).map((result) => ({
        name: 'config_reloads_total',
        help: 'Reloads of the configuration, by how they ended',
        type: 'counter' as const,
        value: counts[result],
        labels: { result },
      })),
      {
        name: 'config_last_reload_timestamp_seconds',
        help: 'When the configuration that is in force was read',
        type: 'gauge',
        value: lastAt / 1000,
      },
    ],
  };
}

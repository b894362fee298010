import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds, silentLog, systemRandom, type Random } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { openPassthrough } from '../../src/passthrough/open.ts';
import { openOutbox, type Outbox } from '../../src/passthrough/outbox.ts';
import type { OutboxStore } from '../../src/passthrough/outbox-ports.ts';
import { openEmbeddedStore, type EmbeddedStore } from '../../src/store/embedded/store.ts';
import type { ScriptedUpstream } from './scripted-upstream.ts';

/** An outbox on a store of its own, in front of an upstream; `keep` is what a caller's request comes down to. */
export interface KeptFor {
  readonly clock: ManualClock;
  readonly outbox: Outbox;
  readonly store: OutboxStore;
  readonly dataDir: string;
  /** A batch of `events` events for an organization; `false`: there was no room. */
  readonly keep: (organizationId: string, name: string, events?: number, more?: object) => Promise<boolean>;
  readonly count: (name: string, label?: string) => number | undefined;
  /** Moves the clock on, in such steps, until nothing waits. */
  readonly drained: (stepMs?: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Half of each pause, which then has a known length. */
const half: Random = { fraction: () => 0.5, bytes: (n) => new Uint8Array(n) };

export const own = { 'areas.oauth': 'local', 'areas.devices': 'local', 'upstream.credential': 'sk-team' };

/** For the tests of a file: one store for all, which is empty again after each. */
export function outboxes(): (
  upstream: ScriptedUpstream,
  flags?: Record<string, unknown>,
) => Promise<KeptFor> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-outbox-'));
  let store: EmbeddedStore;
  let ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    store = await openEmbeddedStore({ path: join(dataDir, 'sallyport.db') });
  });
  afterEach(async () => {
    for (const end of ends) await end();
    ends = [];
    while (!(await store.outbox.expire({ receivedBefore: Infinity })).done);
    while (!(await store.outbox.expireDeadLetters({ refusedBefore: Infinity })).done);
  });
  afterAll(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });

  return async (upstream, flags = {}) => {
    const clock = new ManualClock(Date.now());
    const ids = createIds(clock, systemRandom);
    const outbox = await openOutbox({ store: store.outbox, clock, random: half, ids, log: silentLog });
    const { config } = loadConfig({ env: {}, flags: { upstream: upstream.url, ...own, ...flags } });
    const passthrough = await openPassthrough(config, clock, silentLog, outbox);
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= outbox.stop().then(() => passthrough.close()));
    ends.push(close);
    const count = (name: string, label?: string) =>
      outbox
        .stats()
        .find(
          (stat) =>
            stat.name === `telemetry_outbox_${name}` &&
            (label === undefined || Object.values(stat.labels ?? {}).includes(label)),
        )?.value;
    return {
      clock,
      outbox,
      store: store.outbox,
      dataDir,
      count,
      close,
      keep(organizationId, name, events = 1, more = {}) {
        const list = Array.from({ length: events }, (_, i) => ({
          severityNumber: 9,
          eventName: `${name}.${i}`,
        }));
        return outbox.keep({
          organizationId,
          accountId: `of ${organizationId}`,
          receivedAt: clock.now(),
          path: '/api/event_logging/v2/batch',
          headers: [
            'content-type',
            'application/json',
            'x-service-name',
            name,
            'idempotency-key',
            `key-${name}`,
          ],
          body: Buffer.from(JSON.stringify({ events: list })),
          records: events,
          ...more,
        });
      },
      async drained(stepMs = 500) {
        const end = clock.now() + 3_600_000;
        for (let before = -1; count('requests') !== 0;) {
          if (clock.now() > end) throw new Error(`${count('requests')} still wait.`);
          // What is on its way is on real sockets: the clock moves on once nothing happens there.
          const isStill = before === upstream.seen.length;
          before = upstream.seen.length;
          if (isStill && clock.timers > 0) await clock.advance(stepMs);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      },
    };
  };
}

/** The names of the events that an upstream was sent, request by request. */
export function eventsIn(body: Buffer): string[] {
  const { events } = JSON.parse(body.toString()) as { events: { eventName: string }[] };
  return events.map(({ eventName }) => eventName);
}

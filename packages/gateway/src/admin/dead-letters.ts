import { ServiceError, systemClock, toTimestamp } from '@sallyport/core';
import type { Config } from '../config/schema.ts';
import { reserveBytes } from '../passthrough/outbox.ts';
import type { DeadLetter, OutboxStore } from '../passthrough/outbox-ports.ts';
import { printJson } from './print.ts';
import { withStore } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';

/** By their ids, or all that there are now. */
export type WhichLetters = readonly number[] | 'all';

const pageLetters = 1000;

/** `admin telemetry dead-letters list`: what the upstream refused, and why, as a JSON array. */
export function listDeadLetters(flags: ConfigFlags & { readonly limit: number }): Promise<void> {
  return withStore(flags, async ({ store }) => {
    const letters = await store.outbox.deadLetters({ after: 0, limit: flags.limit });
    printJson(letters.map(deadLetterRecord));
  });
}

/** `admin telemetry dead-letters retry`: prints how many wait again; where there is no room for one, it stays, with those after it. */
export function retryDeadLetters(which: WhichLetters, flags: ConfigFlags): Promise<void> {
  return withStore(flags, async ({ store, config }) => {
    let retried = 0;
    for (const id of await idsOf(which, store.outbox)) {
      const receivedAt = systemClock.now();
      const { outcome } = await store.outbox.retryDeadLetter({ id, receivedAt, bounds: boundsOf(config) });
      if (outcome === 'full')
        throw new ServiceError(
          'temporarily_unavailable',
          `There is no room in the outbox for dead letter ${id} (${retried} wait again): try again once it has been sent, or raise upstream.outboxBytes.`,
        );
      if (outcome === 'waits') retried++;
      else if (which !== 'all') throw noSuchLetter(id, flags);
    }
    printJson({ retried });
  });
}

/** `admin telemetry dead-letters drop`: prints how many are gone. */
export function dropDeadLetters(which: WhichLetters, flags: ConfigFlags): Promise<void> {
  return withStore(flags, async ({ store }) => {
    let dropped = 0;
    for (const id of await idsOf(which, store.outbox)) {
      const { outcome } = await store.outbox.dropDeadLetter({ id });
      if (outcome === 'dropped') dropped++;
      else if (which !== 'all') throw noSuchLetter(id, flags);
    }
    printJson({ dropped });
  });
}

/** All are those that there are now: one that is refused again while the others are sent is not meant. */
async function idsOf(which: WhichLetters, store: OutboxStore): Promise<readonly number[]> {
  if (which !== 'all') return which;
  const ids: number[] = [];
  for (let page = pageLetters; page === pageLetters;) {
    const letters = await store.deadLetters({ after: ids.at(-1) ?? 0, limit: pageLetters });
    for (const { id } of letters) ids.push(id);
    page = letters.length;
  }
  return ids;
}

function boundsOf({ upstream }: Config) {
  return { maxBytes: upstream.outboxBytes, maxRecords: upstream.outboxRecords, reserveBytes };
}

function noSuchLetter(id: number, flags: ConfigFlags): ServiceError {
  return new ServiceError(
    'not_found',
    `There is no dead letter ${id}: see ${operatorCommand(['telemetry', 'dead-letters', 'list'], flags)}.`,
  );
}

function deadLetterRecord(letter: DeadLetter) {
  const { id, organizationId, accountId, receivedAt, refusedAt, status, reason, records, bytes, path } =
    letter;
  return {
    id,
    organization_id: organizationId === '' ? null : organizationId,
    account_id: accountId === '' ? null : accountId,
    received_at: toTimestamp(receivedAt),
    refused_at: toTimestamp(refusedAt),
    status,
    reason,
    records,
    bytes,
    path,
  };
}

import type { TelemetryEvent } from './event.ts';

/** Rates from 0 (none) to 1 (all) by event name; `*` is for the names that have none of their own. */
export type Sampling = Readonly<Record<string, number>>;

/** Whether an event is to be sent. */
export type Sampler = (event: TelemetryEvent) => boolean;

const errorSeverity = 17;

/**
 * Decides by `session.id`, so that of a session all events of equal rates are sent or none; events without one are
 * spread evenly, each name by itself. Errors are always sent.
 */
export function createSampler(sampling: Sampling): Sampler {
  const rates = new Map(Object.entries(sampling));
  const due = new Map<string, number>();
  return ({ name, severityNumber = 9, attributes }) => {
    const rate = rates.get(name) ?? rates.get('*') ?? 1;
    if (rate >= 1 || severityNumber >= errorSeverity) return true;
    const session = attributes?.['session.id'];
    if (typeof session === 'string') return fractionOf(session) < rate;
    const key = rates.has(name) ? name : '*';
    const sum = (due.get(key) ?? 0) + rate;
    due.set(key, sum % 1);
    return sum >= 1;
  };
}

/** FNV-1a with a final mix, as a number from 0 to 1: the same in every process. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

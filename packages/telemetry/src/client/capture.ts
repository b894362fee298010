import type { Clock } from '@sallyport/core';
import type { TelemetryEvent } from './event.ts';
import type { Queueable } from './queue.ts';

/**
 * An event as it waits in memory: a copy that nothing its reporter does later changes, stamped with its time. It is
 * redacted and written as it leaves the queue, be it for the wire or for the disk.
 */
export interface CapturedEvent extends Queueable, Stamp {
  readonly name: string;
  readonly body: string | undefined;
  readonly severityText: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** When an event was emitted: the wall clock's milliseconds, and the nanoseconds within them by the monotonic clock. */
export interface Stamp {
  readonly ms: number;
  readonly nanos: number;
}

/** Larger ones are written at once: an event must not keep alive what it has no room for. */
const maxCapturedBytes = 16 * 1024;
/** What an attribute has besides its name and text, and an event besides its own. */
const attributeBytes = 40;
const eventBytes = 420;

/** Copies an event; `undefined`: what it has is not plain or not small, and must be written now. Runs its accessors. */
export function capture(event: TelemetryEvent, stamp: Stamp): CapturedEvent | undefined {
  const { name, body, severityText, timeUnixNano, trace } = event;
  if (timeUnixNano !== undefined || trace !== undefined || !isText(body)) return undefined;
  const attributes: Readonly<Record<string, unknown>> = { ...event.attributes };
  let bytes = eventBytes + name.length + (body === undefined ? 0 : body.length);
  for (const key in attributes) {
    const value = attributes[key];
    bytes += attributeBytes + key.length;
    if (typeof value === 'string') bytes += value.length;
    else if (typeof value !== 'number' && typeof value !== 'boolean' && value !== undefined) return undefined;
  }
  // Also where a caller without types gave something that has no length.
  if (!(bytes <= maxCapturedBytes)) return undefined;
  const severity = severityOf(event);
  const { ms, nanos } = stamp;
  return { name, body, severity, severityText, attributes, ms, nanos, bytes };
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

export function stampOf(clock: Clock): Stamp {
  return { ms: Math.trunc(clock.now()), nanos: Math.trunc((clock.monotonic() % 1) * 1e6) };
}

export function severityOf({ severityNumber = 9 }: Pick<TelemetryEvent, 'severityNumber'>): number {
  return Number.isInteger(severityNumber) ? Math.min(24, Math.max(0, severityNumber)) : 0;
}

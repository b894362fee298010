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

/**
 * When an event was emitted: seconds since the Unix epoch, and nanoseconds within them. Small integers both: any other number
 * would be an object of its own for each event that waits.
 */
export interface Stamp {
  readonly seconds: number;
  readonly nanos: number;
}

/** Larger ones are written at once: an event must not keep alive what it has no room for. */
const maxCapturedBytes = 16 * 1024;
/** What an attribute has besides its name and text, and an event besides its own. */
const attributeBytes = 40;
const eventBytes = 420;

/** Copies an event; `undefined`: what it has is not plain or not small, and must be written now. Runs its accessors. */
export function capture(event: TelemetryEvent, stamp: Stamp): CapturedEvent | undefined {
  const { name, body, severityText, trace } = event;
  const { timeUnixNano, observedTimeUnixNano, droppedAttributesCount } = event;
  if ((timeUnixNano ?? observedTimeUnixNano ?? droppedAttributesCount ?? trace) !== undefined)
    return undefined;
  if (!isText(body)) return undefined;
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
  const { seconds, nanos } = stamp;
  return { name, body, severity, severityText, attributes, seconds, nanos, bytes };
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

/** By the wall clock, and within its milliseconds by the monotonic one. */
export function stampOf(clock: Clock): Stamp {
  const ms = Math.trunc(clock.now());
  const seconds = Math.trunc(ms / 1000);
  const time = clock.monotonic();
  const withinMs = Math.trunc((time - Math.trunc(time)) * 1e6);
  return { seconds, nanos: Math.trunc((ms - seconds * 1000) * 1e6 + withinMs) };
}

export function msOf({ seconds, nanos }: Stamp): number {
  return seconds * 1000 + Math.trunc(nanos / 1e6);
}

/** OTLP's largest severity number. */
export const maxSeverity = 24;

export function severityOf({ severityNumber = 9 }: Pick<TelemetryEvent, 'severityNumber'>): number {
  return Number.isInteger(severityNumber) ? Math.min(maxSeverity, Math.max(0, severityNumber)) : 0;
}

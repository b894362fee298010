import type { Report } from '@sallyport/core';

/** What may be emitted: an OTLP log record, with attributes as plain values. */
export interface TelemetryEvent {
  /** Becomes the attribute `event.name`. Dotted and stable: `session.started`. */
  readonly name: string;
  /** OTLP severity, 1 to 24: 9 is info (default), 17 is error. */
  readonly severityNumber?: number;
  readonly severityText?: string;
  /** Text, or what attributes may have. */
  readonly body?: unknown;
  /** Plain values, nested ones too, dates and errors; anything else becomes text. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** When it happened, in nanoseconds since the Unix epoch; default: now. */
  readonly timeUnixNano?: string;
  /** When it was seen, where something else saw it first; default: now. */
  readonly observedTimeUnixNano?: string;
  /** Attributes that were left out before. */
  readonly droppedAttributesCount?: number;
  /** The span in which it happened. */
  readonly trace?: TraceContext;
}

/** Of W3C Trace Context: ids in lower-case hexadecimal. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags?: number;
}

/** What a program tells through the port of core, as an event. */
export function eventOf({ name, severity = 'info', body, attributes }: Report): TelemetryEvent {
  return {
    name,
    severityNumber: severity === 'error' ? 17 : 9,
    severityText: severity,
    ...(body !== undefined && { body }),
    ...(attributes && { attributes }),
  };
}

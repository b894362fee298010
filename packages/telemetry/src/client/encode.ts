import type { Clock } from '@sallyport/core';
import type { AnyValue } from '@sallyport/core/contract';
import { cut, toAttributes, toText, type KeyValue } from './any-value.ts';
import type { QueuedEvent } from './queue.ts';
import type { Redactor } from './redact.ts';
import { createAttributesWriter } from './write-attributes.ts';

/** What may be emitted: an OTLP log record, with attributes as plain values. */
export interface TelemetryEvent {
  /** Becomes the attribute `event.name`. Dotted and stable: `session.started`. */
  readonly name: string;
  /** OTLP severity, 1 to 24: 9 is info (default), 17 is error. */
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: string;
  /** Plain values, nested ones too, dates and errors; anything else becomes text. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

export interface Encoder {
  /** The event as it is queued; `undefined`: even cut down it is too large. Throws what an accessor of the event throws. */
  encode(event: TelemetryEvent): QueuedEvent | undefined;
}

interface Draft {
  readonly body: AnyValue | undefined;
  readonly attributes: KeyValue[];
  readonly dropped: number;
}

/** Makes events into OTLP JSON: stamped, with the attributes `own` that all have, redacted, at most `maxBytes` each. */
export function createEncoder(options: {
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly redactor: Redactor;
  readonly own: Readonly<Record<string, string>>;
  readonly maxBytes: number;
}): Encoder {
  const { clock, nextId, redactor, maxBytes } = options;
  const own = Object.entries(options.own).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const taken = new Set(['event.name', 'event.id', ...Object.keys(options.own)]);
  const ownJson = own.map((attribute) => `,${JSON.stringify(attribute)}`).join('');
  const writeAttributes = createAttributesWriter(redactor, taken);

  /** The short way; `undefined` where the long one is to be taken. */
  function write(
    { name, body, attributes = {} }: TelemetryEvent,
    head: Head,
    id: string,
  ): string | undefined {
    const rest = writeAttributes(attributes);
    if (rest === undefined) return undefined;
    const { timeUnixNano: time, severityNumber, severityText } = head;
    const quoted = (text: string) => JSON.stringify(toText(text, redactor));
    const written = body === undefined ? '' : `"body":{"stringValue":${quoted(body)}},`;
    return (
      `{"timeUnixNano":"${time}","observedTimeUnixNano":"${time}","severityNumber":${severityNumber},` +
      `"severityText":${severityText === 'info' ? '"info"' : JSON.stringify(severityText)},${written}"attributes":[` +
      `{"key":"event.name","value":{"stringValue":${quoted(name)}}},` +
      `{"key":"event.id","value":{"stringValue":"${id}"}}${ownJson}${rest && `,${rest}`}]}`
    );
  }

  function draftOf({ body, attributes = {} }: TelemetryEvent): Draft {
    const given = toAttributes(attributes, redactor);
    return {
      body: body === undefined ? undefined : { stringValue: toText(body, redactor) },
      attributes: given.attributes.filter(({ key }) => !taken.has(key)),
      dropped: given.dropped,
    };
  }

  return {
    encode(event) {
      const head = headOf(event, clock);
      const severity = head.severityNumber;
      const id = nextId();
      const short = write(event, head, id);
      const shortBytes = short === undefined ? Infinity : Buffer.byteLength(short);
      if (short !== undefined && shortBytes <= maxBytes) return { json: short, bytes: shortBytes, severity };

      const identity = [
        { key: 'event.name', value: { stringValue: toText(event.name, redactor) } },
        { key: 'event.id', value: { stringValue: id } },
        ...own,
      ];
      let draft: Draft | undefined = draftOf(event);
      // Each round cuts the largest part: a few suffice, or the event is made of very many small ones.
      for (let round = 0; draft && round < 16; round += 1) {
        const json = JSON.stringify({
          ...head,
          ...(draft.body && { body: draft.body }),
          attributes: [...identity, ...draft.attributes],
          ...(draft.dropped > 0 && { droppedAttributesCount: draft.dropped }),
        });
        const bytes = Buffer.byteLength(json);
        if (bytes <= maxBytes) return { json, bytes, severity };
        draft = cutLargest(draft, bytes - maxBytes);
      }
      return undefined;
    },
  };
}

interface Head {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
}

function headOf({ severityNumber = 9, severityText }: TelemetryEvent, clock: Clock): Head {
  const time = unixNano(clock);
  const severity = Number.isInteger(severityNumber) ? Math.min(24, Math.max(0, severityNumber)) : 0;
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: severity,
    severityText: severityText?.toWellFormed() ?? (severity >= 17 ? 'error' : 'info'),
  };
}

/** Nanoseconds since the Unix epoch, in decimal: the wall clock's milliseconds, and within them the monotonic clock's. */
function unixNano(clock: Clock): string {
  const fraction = Math.trunc((clock.monotonic() % 1) * 1e6);
  return `${String(Math.trunc(clock.now()))}${String(fraction).padStart(6, '0')}`;
}

/** Cuts the largest text, body or attribute, by `excess` bytes; a large value of another kind goes as a whole. */
function cutLargest({ body, attributes, dropped }: Draft, excess: number): Draft | undefined {
  let largest = -1; // the body
  let size = sizeOf(body);
  for (const [index, { value }] of attributes.entries()) {
    if (sizeOf(value) > size) [largest, size] = [index, sizeOf(value)];
  }
  if (size === 0) return undefined;
  if (largest === -1) return { body: cutText(body, excess), attributes, dropped };
  const attribute = attributes[largest];
  const value = attribute && cutText(attribute.value, excess);
  return {
    body,
    attributes: value
      ? attributes.with(largest, { key: attribute.key, value })
      : attributes.toSpliced(largest, 1),
    dropped: dropped + 1,
  };
}

function sizeOf(value: AnyValue | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

const smallest = 256;

function cutText(value: AnyValue | undefined, excess: number): AnyValue | undefined {
  const text = value?.stringValue;
  if (text === undefined || text.length <= smallest) return undefined;
  // A character takes at least a byte, and the mark has its own; what escaping takes is seen in the next round.
  const kept = cut(text, Math.max(smallest / 2, text.length - excess - 64));
  const bytes = Buffer.byteLength(text) - Buffer.byteLength(kept);
  return { stringValue: `${kept}...[truncated ${String(bytes)} bytes]` };
}

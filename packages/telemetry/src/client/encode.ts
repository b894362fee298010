import { severityNameOf, type Clock } from '@sallyport/core';
import type { AnyValue } from '@sallyport/core/contract';
import { cut, cutMark, toAttributes, toText, toValue, type KeyValue } from './any-value.ts';
import { pieceOf, type ByteWriter, type Piece } from './byte-writer.ts';
import {
  capture,
  maxSeverity,
  msOf,
  severityOf,
  stampOf,
  type CapturedEvent,
  type Stamp,
} from './capture.ts';
import type { TelemetryEvent } from './event.ts';
import { idChars, type EventIds } from './event-id.ts';
import type { Queueable } from './queue.ts';
import { QuotedTexts } from './quoted-texts.ts';
import type { Redactor } from './redact.ts';
import { createAttributesWriter } from './write-attributes.ts';

/** An event that waits: captured, or written already because it is not plain or not small. */
export type QueuedEvent = CapturedEvent | WrittenEvent;

interface WrittenEvent extends Queueable {
  readonly json: string;
}

/**
 * Makes an event into what is queued; `undefined`: even cut down it is too large. Throws what an accessor of the event throws.
 */
export type Take = (event: TelemetryEvent) => QueuedEvent | undefined;

export interface Encoder {
  readonly take: Take;
  /** For events of the batcher's own: all their attributes are allowed. */
  readonly takeOwn: Take;
  /** Writes one OTLP LogRecord in JSON, on one line, redacted; `false`: even cut down it is too large. */
  write(queued: QueuedEvent, into: ByteWriter): boolean;
}

type Unwritten = CapturedEvent | TelemetryEvent;

interface Draft {
  readonly body: AnyValue | undefined;
  readonly attributes: KeyValue[];
  readonly dropped: number;
}

/** From a record's time up to its severity's name. */
const severities = Array.from({ length: maxSeverity + 1 }, (_, severity) =>
  pieceOf(`","severityNumber":${severity},"severityText":`),
);
const severityNames = severities.map((_, severity) => severityNameOf(severity) ?? '');
const end = pieceOf(']}');

/** Makes events into OTLP JSON: stamped, with the attributes `own` that all have, redacted, at most `maxBytes` each. */
export function createEncoder(options: {
  readonly clock: Clock;
  readonly ids: EventIds;
  readonly redactor: Redactor;
  /** Whether attributes of this name are sent; others are left out. */
  readonly isAllowed?: (name: string) => boolean;
  readonly own: Readonly<Record<string, string>>;
  readonly maxBytes: number;
}): Encoder {
  const { clock, ids, redactor, isAllowed = () => true, maxBytes } = options;
  const own = Object.entries(options.own).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const taken = new Set(['event.name', 'event.id', ...Object.keys(options.own)]);
  const writeAttributes = createAttributesWriter(redactor, (name) => isAllowed(name) && !taken.has(name));
  const behindId = pieceOf(`"}}${own.map((attribute) => `,${JSON.stringify(attribute)}`).join('')}`);
  const bodies = new QuotedTexts(redactor, '"body":{"stringValue":', '},');
  const names = new QuotedTexts(
    redactor,
    '"attributes":[{"key":"event.name","value":{"stringValue":',
    '}},{"key":"event.id","value":{"stringValue":"',
  );
  const severityTexts = new QuotedTexts(redactor, '', ',');

  const id = Buffer.alloc(idChars);
  let writtenSeconds = NaN;
  let beforeNanos: Piece = end;
  let betweenNanos: Piece = end;

  /** The short way; `false` where the long one is to be taken. */
  function writePlain(event: CapturedEvent, id: Piece, into: ByteWriter): boolean {
    const { name, body, severity, severityText, attributes } = event;
    writeTimes(event, into);
    into.piece(severities[severity] as Piece);
    severityTexts.write(severityName(severityText, severity), into);
    if (body !== undefined) bodies.write(body, into);
    names.write(name, into);
    into.piece(id);
    into.piece(behindId);
    if (!writeAttributes(attributes, into)) return false;
    into.piece(end);
    return true;
  }

  function draftOf({ body, attributes = {} }: Unwritten, isOwn: boolean, droppedBefore = 0): Draft {
    const given = toAttributes(attributes, redactor, isOwn ? undefined : isAllowed);
    return {
      body: body === undefined ? undefined : toValue(body, redactor),
      attributes: given.attributes.filter(({ key }) => !taken.has(key)),
      dropped: given.dropped + droppedBefore,
    };
  }

  /** Both times of a record, as `unixNano` has them. */
  function writeTimes({ seconds, nanos }: Stamp, into: ByteWriter): void {
    if (seconds !== writtenSeconds) {
      writtenSeconds = seconds;
      beforeNanos = pieceOf(`{"timeUnixNano":"${seconds}`);
      betweenNanos = pieceOf(`","observedTimeUnixNano":"${seconds}`);
    }
    into.piece(beforeNanos);
    into.digits(nanos, 9);
    into.piece(betweenNanos);
    into.digits(nanos, 9);
  }

  function writeCaptured(event: CapturedEvent, into: ByteWriter): boolean {
    const start = into.length;
    ids.write(msOf(event), id, 0);
    if (writePlain(event, id, into) && into.length - start <= maxBytes) return true;
    into.length = start;
    const json = writeAny(event, event.severity, event, { id: id.toString('latin1') });
    if (json !== undefined) into.text(json);
    return json !== undefined;
  }

  /** The long way: whatever an event may have, cut down until it fits. */
  function writeAny(
    event: Unwritten,
    severity: number,
    stamp: Stamp,
    { id = ids.next(msOf(stamp)), isOwn = false } = {},
  ): string | undefined {
    const given: Partial<TelemetryEvent> = 'nanos' in event ? {} : event;
    const identity = [
      { key: 'event.name', value: { stringValue: toText(event.name, redactor) } },
      { key: 'event.id', value: { stringValue: id } },
      ...own,
    ];
    let draft: Draft | undefined = draftOf(event, isOwn, given.droppedAttributesCount);
    // Each round cuts the largest part: a few suffice, or the event is made of very many small ones.
    for (let round = 0; draft && round < 16; round += 1) {
      const json = JSON.stringify({
        timeUnixNano: soundTime(given.timeUnixNano) ?? unixNano(stamp),
        observedTimeUnixNano: soundTime(given.observedTimeUnixNano) ?? unixNano(stamp),
        severityNumber: severity,
        severityText: toText(severityName(event.severityText, severity), redactor),
        ...(draft.body && { body: draft.body }),
        attributes: [...identity, ...draft.attributes],
        ...(draft.dropped > 0 && { droppedAttributesCount: draft.dropped }),
        ...given.trace,
      });
      const bytes = Buffer.byteLength(json);
      if (bytes <= maxBytes) return json;
      draft = cutLargest(draft, bytes - maxBytes);
    }
    return undefined;
  }

  function takeWritten(event: TelemetryEvent, stamp: Stamp, isOwn: boolean): WrittenEvent | undefined {
    const severity = severityOf(event);
    const json = writeAny(event, severity, stamp, { isOwn });
    return json === undefined ? undefined : { json, severity, bytes: Buffer.byteLength(json) };
  }

  return {
    take(event) {
      const stamp = stampOf(clock);
      return capture(event, stamp) ?? takeWritten(event, stamp, false);
    },
    takeOwn: (event) => takeWritten(event, stampOf(clock), true),
    write(queued, into) {
      if (!('json' in queued)) return writeCaptured(queued, into);
      into.text(queued.json);
      return true;
    },
  };
}

/** Where a program names none, it is that of the number's range; of no number, none. */
function severityName(text: string | undefined, severity: number): string {
  return text?.toWellFormed() ?? (severityNames[severity] as string);
}

/** Nanoseconds since the Unix epoch, in decimal. */
function unixNano({ seconds, nanos }: Stamp): string {
  return `${seconds}${String(nanos).padStart(9, '0')}`;
}

/** A time that OTLP has room for: of a date that is none, or of another unit, the event must not be refused. */
function soundTime(nanos: string | undefined): string | undefined {
  return typeof nanos === 'string' && /^\d{1,20}$/.test(nanos) && BigInt(nanos) < 2n ** 64n
    ? nanos
    : undefined;
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
  return { stringValue: kept + cutMark(text, kept) };
}

import { isUtf8 } from 'node:buffer';
import { isJsonObject, nestsTooDeep } from '@sallyport/core';
import { isReservedForProcesses } from '../protocol/events.ts';
import { maxFrameBytes } from '../protocol/frames.ts';
import { encodePiece, pieceBytes } from './pieces.ts';

export type EmitOutput = (type: string, data: Readonly<Record<string, unknown>>) => void;

const newline = 0x0a;
const openingBrace = 0x7b;

/**
 * Turns a process's output into events, a line each: a JSON object with a string `type` becomes an event of that type,
 * everything else `session.output`. Nothing is dropped: what is too long for an event goes on in pieces.
 */
export class OutputLines {
  readonly #stream: 'stdout' | 'stderr';
  readonly #emit: EmitOutput;
  #pending: Buffer[] = [];
  #size = 0;
  /** A piece of this line is out already, so its rest is no line of its own. */
  #isTail = false;

  constructor(stream: 'stdout' | 'stderr', emit: EmitOutput) {
    this.#stream = stream;
    this.#emit = emit;
  }

  write(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end));
      this.#line(this.#take());
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
    if (this.#size > this.#limit) this.#emitPieces(this.#take(), true);
  }

  /** What came after the last newline is a line, too. */
  end(): void {
    if (this.#size > 0) this.#line(this.#take());
  }

  /** Only what may become an event is worth waiting for. */
  get #limit(): number {
    return this.#mayBeEvent(this.#pending[0]) ? maxFrameBytes : pieceBytes;
  }

  #mayBeEvent(line: Buffer | undefined): boolean {
    return this.#stream === 'stdout' && !this.#isTail && line?.[0] === openingBrace;
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#pending.push(part);
    this.#size += part.length;
  }

  #take(): Buffer {
    const [first] = this.#pending;
    const line = this.#pending.length === 1 && first ? first : Buffer.concat(this.#pending, this.#size);
    this.#pending = [];
    this.#size = 0;
    return line;
  }

  #line(line: Buffer): void {
    const event = this.#mayBeEvent(line) ? toEvent(line) : undefined;
    if (event) this.#emit(event.type, event.data);
    else this.#emitPieces(line, false);
  }

  /** `goesOn`: the line's end is not there yet, so the last piece is a part, too; a torn character waits for its rest. */
  #emitPieces(line: Buffer, goesOn: boolean): void {
    let start = 0;
    while (line.length - start > pieceBytes) {
      const end = characterStart(line, start + pieceBytes);
      this.#emitPiece(line.subarray(start, end), true);
      start = end;
    }
    const end = goesOn ? characterStart(line, line.length) : line.length;
    this.#emitPiece(line.subarray(start, end), goesOn);
    this.#isTail = goesOn;
    this.#add(line.subarray(end));
  }

  #emitPiece(bytes: Buffer, partial: boolean): void {
    this.#emit('session.output', {
      stream: this.#stream,
      ...encodePiece(bytes),
      ...(partial && { partial }),
    });
  }
}

/** `{type, data: {...}}`, or `{type, ...members}` whose other members are the data. */
function toEvent(line: Buffer): { type: string; data: Readonly<Record<string, unknown>> } | undefined {
  if (!isUtf8(line)) return undefined;
  const text = line.toString('utf8');
  const value = nestsTooDeep(text) ? undefined : parse(text);
  if (value === undefined) return undefined;
  const { type, ...members } = value;
  if (typeof type !== 'string' || type === '' || type.length > 128 || isReservedForProcesses(type))
    return undefined;
  const data = isJsonObject(members['data']) ? members['data'] : members;
  // Numbers may get longer when they are written again; the rest of the frame takes less than 1 KiB.
  const isTooLong = Buffer.byteLength(JSON.stringify(data)) > maxFrameBytes - 1024;
  return isTooLong ? undefined : { type, data };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The last place up to `end` at which a UTF-8 character may begin; `end` itself where that is no UTF-8 anyway. */
function characterStart(bytes: Buffer, end: number): number {
  let at = end;
  while (at > 0 && end - at < 4) {
    const byte = bytes[at - 1] ?? 0;
    at -= 1;
    if (byte < 0x80) return end; // ends with an ASCII character
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return at + length > end ? at : end;
    }
  }
  return end;
}

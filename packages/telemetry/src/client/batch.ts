import { ByteWriter, pieceOf } from './byte-writer.ts';

/** What one request takes. */
export interface BatchBounds {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** Events as they are sent together. */
export interface Batch {
  /** The request's body, in UTF-8: `{"events":[...]}`. */
  readonly body: Buffer;
  /** What the body is in, if it is used again. */
  readonly room: ByteWriter | undefined;
  /** Where each event ends in it. */
  readonly ends: readonly number[];
  /** How often bad events were cut out of it. */
  readonly cuts: number;
  /** How often the service broke on it. */
  readonly failures: number;
}

/** Writes an event; `false`: there is none. */
export type Write<E> = (event: E, into: ByteWriter) => boolean;

const opening = pieceOf('{"events":[');
const closing = pieceOf(']}');
const comma = 0x2c;

/** Rooms that are kept. */
const maxRooms = 3;
/** Most bodies are far smaller; what a rare one takes is not kept. */
const maxRoomBytes = 256 * 1024;

/**
 * Makes batches of events. Some 50 KB of memory that are new for each cost as much as writing them: the rooms of those that
 * have arrived are used again.
 */
export class Packer {
  readonly #bounds: BatchBounds;
  readonly #rooms: ByteWriter[] = [];

  constructor(bounds: BatchBounds) {
    this.#bounds = bounds;
  }

  /** Always in the same way, so that a segment of the spool that is sent again makes the same requests. */
  pack<E>(events: readonly E[], write: Write<E>): Batch[] {
    const { maxEvents, maxBytes } = this.#bounds;
    const room = this.#takeRoom();
    const batches: Batch[] = [];
    let ends: number[] = [];
    for (const event of events) {
      const start = room.length;
      if (ends.length > 0) room.byte(comma);
      if (!write(event, room)) {
        room.length = start;
        continue;
      }
      if (ends.length === maxEvents || (ends.length > 0 && room.length - opening.length + 1 > maxBytes)) {
        const behind = room.copy(start + 1);
        room.length = start;
        batches.push(copied(batchOf(room, ends)));
        ends = [];
        room.length = opening.length;
        room.piece(behind);
      }
      ends.push(room.length);
    }
    if (ends.length > 0) batches.push(batchOf(room, ends));
    else this.#giveBack(room);
    return batches;
  }

  /** Makes batches of events that are written already. */
  packLines(lines: readonly string[]): Batch[] {
    return this.pack(lines, writeLine).map((batch) => {
      this.recycle(batch);
      return copied(batch);
    });
  }

  /** Takes back the room of a batch that has arrived. Nobody may have its body any more. */
  recycle({ room }: Batch): void {
    if (room) this.#giveBack(room);
  }

  #giveBack(room: ByteWriter): void {
    if (this.#rooms.length < maxRooms && room.capacity <= maxRoomBytes) this.#rooms.push(room);
  }

  /**
   * Not the one that was given back last: a server may answer what it has not read to its end, but not the request behind it
   * on the connection.
   */
  #takeRoom(): ByteWriter {
    const room = (this.#rooms.length > 1 && this.#rooms.shift()) || new ByteWriter();
    room.length = 0;
    room.piece(opening);
    return room;
  }
}

function batchOf(room: ByteWriter, ends: readonly number[]): Batch {
  room.piece(closing);
  return { body: room.view(), room, ends, cuts: 0, failures: 0 };
}

/** A batch that takes no more memory than it has bytes: of a segment there may be many. */
function copied({ body, ...batch }: Batch): Batch {
  return { ...batch, body: Buffer.from(body), room: undefined };
}

/** The events of a batch, each one JSON text. */
export function linesOf({ body, ends }: Batch): string[] {
  return ends.map((end, index) => {
    const before = ends[index - 1];
    return body.toString('utf8', before === undefined ? opening.length : before + 1, end);
  });
}

function writeLine(line: string, into: ByteWriter): boolean {
  into.text(line);
  return true;
}

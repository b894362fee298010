import { leavePlain } from './plain-form.ts';

/** Wire types, in the lowest three bits of a tag. The plain form has no field over 15, so that a tag is one byte. */
export const varint = 0;
export const fixed64 = 1;
export const bytes = 2;
export const fixed32 = 5;

export const tagOf = (field: number, wireType: number) => field * 8 + wireType;
export const fieldOf = (tag: number) => tag >> 3;

/**
 * Goes through the bytes of a message without making anything of them; each method leaves the plain form for what is not of it, such
 * as what goes on behind `end`, where the message ends that it is in.
 */
export class ProtobufScanner {
  readonly bytes: Uint8Array;
  at = 0;
  /** Messages that were gone into. */
  messages = 0;

  constructor(of: Uint8Array) {
    this.bytes = of;
  }

  /** One byte. */
  tag(end: number): number {
    if (this.at >= end) leavePlain();
    const tag = this.bytes[this.at++] as number;
    if (tag >= 0x80) leavePlain();
    return tag;
  }

  /** Where the field ends whose length comes next: what is plain has lengths of three bytes at most. */
  length(end: number): number {
    let length = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      if (this.at >= end) leavePlain();
      const byte = this.bytes[this.at++] as number;
      length |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (length > end - this.at) leavePlain();
      return this.at + length;
    }
    return leavePlain();
  }

  /** Passes over a text, or bytes. */
  skipField(end: number): void {
    this.at = this.length(end);
  }

  skip(length: number, end: number): void {
    if (length > end - this.at) leavePlain();
    this.at += length;
  }

  /** Whatever it says: numbers of more bits than their type has are cut. */
  skipVarint(end: number): void {
    for (let read = 0; read < 10; read++) {
      if (this.at >= end) leavePlain();
      if ((this.bytes[this.at++] as number) < 0x80) return;
    }
    leavePlain();
  }
}

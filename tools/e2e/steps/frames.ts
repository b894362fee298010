/** A WebSocket frame (RFC 6455 5.2) as it went over the wire, with its text where it is a whole text message. */
export interface WireFrame {
  readonly wire: Buffer;
  readonly text: string | undefined;
}

const textOpcode = 0x81; // FIN and text

/** Cuts a WebSocket's bytes, as they come, into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  read(chunk: Buffer): WireFrame[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: WireFrame[] = [];
    for (let size = frameSize(this.#rest); size !== undefined && size.total <= this.#rest.length;) {
      frames.push(toFrame(this.#rest.subarray(0, size.total), size.header));
      this.#rest = this.#rest.subarray(size.total);
      size = frameSize(this.#rest);
    }
    return frames;
  }
}

/** `header`: the bytes before the payload, mask included; `undefined`: they are not all there yet. */
function frameSize(bytes: Buffer): { readonly header: number; readonly total: number } | undefined {
  const second = bytes[1];
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const header = 2 + lengthBytes + (second & 0x80 ? 4 : 0);
  if (bytes.length < header) return undefined;
  const payload =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { header, total: header + payload };
}

function toFrame(wire: Buffer, header: number): WireFrame {
  if (wire[0] !== textOpcode) return { wire, text: undefined };
  const payload = Buffer.from(wire.subarray(header));
  const isMasked = ((wire[1] ?? 0) & 0x80) !== 0;
  const mask = wire.subarray(header - 4, header);
  if (isMasked) for (let at = 0; at < payload.length; at += 1) payload[at]! ^= mask[at % 4]!;
  return { wire, text: payload.toString('utf8') };
}

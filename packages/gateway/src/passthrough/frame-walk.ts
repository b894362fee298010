/** Follows the frames of one direction of a WebSocket (RFC 6455 5.2) without looking into them. */
export interface FrameWalk {
  /** Whether no frame is open: another one may stand here. */
  readonly isBetween: boolean;
  /** Takes the next bytes; gives how many of them come before the first end of a frame, or all of them. */
  walk(chunk: Uint8Array): number;
}

export function createFrameWalk(): FrameWalk {
  const header: number[] = [];
  let left = 0;

  /** The header's length, as far as its bytes tell. */
  function headerLength(): number {
    const second = header[1];
    if (second === undefined) return 2;
    const length = second & 0x7f;
    return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + (second & 0x80 ? 4 : 0);
  }

  function payloadLength(): number {
    const length = (header[1] ?? 0) & 0x7f;
    if (length < 126) return length;
    const bytes = header.slice(2, length === 126 ? 4 : 10);
    return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  }

  return {
    get isBetween() {
      return left === 0 && header.length === 0;
    },
    walk(chunk) {
      let first: number | undefined;
      for (let at = 0; at < chunk.length;) {
        if (left > 0) {
          const taken = Math.min(left, chunk.length - at);
          left -= taken;
          at += taken;
        } else {
          header.push(chunk[at++] ?? 0);
          if (header.length < headerLength()) continue;
          left = payloadLength();
          header.length = 0;
        }
        if (left === 0 && header.length === 0) first ??= at;
      }
      return first ?? chunk.length;
    },
  };
}

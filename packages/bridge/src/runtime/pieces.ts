import { isUtf8 } from 'node:buffer';

/** Escaped as JSON a byte takes at most six, so every piece fits into a frame. */
export const pieceBytes = 128 * 1024;

const newline = 0x0a;

/** A piece of bytes as events have it. */
type EncodedPiece = { readonly text: string } | { readonly base64: string };

export function encodePiece(bytes: Buffer): EncodedPiece {
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
}

/** Bytes in pieces that fit into events, between lines where those are not longer. */
export function* inPieces(bytes: Buffer): Iterable<EncodedPiece> {
  for (let start = 0; start < bytes.length;) {
    const most = Math.min(start + pieceBytes, bytes.length);
    const lineEnd = bytes.lastIndexOf(newline, most - 1) + 1;
    const end = lineEnd > start ? lineEnd : most;
    yield encodePiece(bytes.subarray(start, end));
    start = end;
  }
}

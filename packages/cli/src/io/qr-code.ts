import type { Terminal } from './terminal.ts';

/** The empty rim that scanners need (ISO/IEC 18004 asks for 4; phones are content with half of it). */
const border = 2;

/**
 * A QR code of `text` for the terminal, two rows of it a line; `undefined` where it has no room, or is not to be drawn in.
 * The colours are said, because a code in the colours of a dark terminal is a negative.
 */
export async function qrCode(text: string, terminal: Terminal): Promise<string | undefined> {
  if (terminal.columns === 0) return undefined;
  const { encode, renderUnicodeCompact } = await import('uqr');
  if (encode(text, { border }).size > terminal.columns) return undefined;
  const lines = renderUnicodeCompact(text, { border }).split('\n');
  return lines.map((line) => terminal.style(['whiteBright', 'bgBlack'], line, 'err')).join('\n');
}

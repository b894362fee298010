import { printable } from '@sallyport/core';

export { printable };

/** The same for text that may have several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

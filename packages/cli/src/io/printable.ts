/** Text of other people as it may go to a terminal: what is no printing character could steer it. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

/** The same for text that may have several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

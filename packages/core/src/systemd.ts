/**
 * One word of a command line or an assignment as systemd reads it (systemd.syntax(7)): in quotes, with its escapes and
 * specifiers taken literally. Throws `RangeError` for a line break, which would begin another setting.
 */
export function systemdWord(word: string): string {
  if (/[\n\r\0]/.test(word)) throw new RangeError('A unit cannot hold a line break.');
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;
}

/**
 * A command line for `ExecStart=`: a `$` is no variable of systemd's (systemd.service(5), "Command lines"), but in the
 * program's own path, where it is none.
 */
export function systemdCommand(words: readonly string[]): string {
  return words.map((word, index) => systemdWord(index === 0 ? word : word.replaceAll('$', '$$$$'))).join(' ');
}

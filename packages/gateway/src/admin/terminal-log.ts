import { stripVTControlCharacters } from 'node:util';
import { printable } from '@sallyport/core';
import { levels } from 'pino';

/** One line of the log as `createLog` writes it. */
interface LogLine {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
  readonly [field: string]: unknown;
}

/** Turns the log's JSON lines into lines for people: `09:41:07 warn  a password was wrong address=::1`. */
export function terminalLog(to: { write(text: string): unknown }): { write(line: string): void } {
  return { write: (line) => void to.write(`${forPeople(JSON.parse(line) as LogLine)}\n`) };
}

function forPeople({ level, time, msg = '', err, ...fields }: LogLine): string {
  const named = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
  const cause = err?.message === undefined ? [] : [`(${plain(err.message)})`];
  const clock = new Date(time).toTimeString().slice(0, 8);
  return [clock, (levels.labels[level] ?? '').padEnd(5), plain(msg), ...named, ...cause].join(' ');
}

/** Requests carry what others wrote: nothing of it may move the cursor. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return printable(stripVTControlCharacters(text));
}

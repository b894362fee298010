import { styleText } from 'node:util';
import { printableJson, whyNotWritten } from '@sallyport/core';
import { hangUp } from './interrupt.ts';

/** To the first column, and erased from there on (ECMA-48 EL). */
const eraseLine = '\r\u001B[K';

type Style = Parameters<typeof styleText>[0];

/** What a command gives back: one document for `--json`, the same for a person's eyes. */
export interface Output {
  readonly json: unknown;
  readonly human: string;
}

/** The one writer of both streams: data on stdout, everything for the person's eyes on stderr. */
export interface Terminal {
  readonly json: boolean;
  /** Data: raw text, or bytes, on stdout. */
  out(data: string | Uint8Array): void;
  /** Whether a person looks at stdout. */
  readonly isForEyes: boolean;
  /** The result of a command, or one record of a stream: a JSON line with `--json`, else its human text and a line end. */
  result(output: Output): void;
  /** A notice on stderr, one line. */
  note(text: string): void;
  /** Raw text on stderr. */
  err(text: string): void;
  /** One line on stderr that changes in place, until `undefined` or whatever else is written there; nothing where there are no `columns`. */
  status(line: string | undefined): void;
  /** How wide stderr is for what is drawn: 0 with `--json`, and where it is no terminal or one without colours. */
  readonly columns: number;
  /** How wide a line may be before it wraps; of what is no terminal any number. */
  widthOf(stream: 'out' | 'err'): number;
  /**
   * What the reader of stdout leaves behind by going away, which else is no failure: `act` tells of it, and gives the exit code.
   * Gives what takes that back.
   */
  onReaderGone(act: () => number): () => void;
  /** Styles text for stdout or stderr; `NO_COLOR`, `FORCE_COLOR` and pipes are obeyed. */
  style(style: Style, text: string, stream?: 'out' | 'err'): string;
}

export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Whatever is written, help too. */
export function outliveReaders({ stdout, stderr }: Streams = process): void {
  // A reader that has seen enough (`| head`) is no failure.
  let isTerminalGone = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    // A terminal that is gone takes no more; what that means is the command's to say.
    isTerminalGone ||= error.code === 'EIO' && stdout.isTTY;
    if (isTerminalGone) return hangUp();
    stderr.write(`error: stdout cannot be written: ${whyNotWritten(error)}.\n`);
    process.exit(1);
  });
  // What goes there is for whoever looks: a log on a full disk, or a reader that is gone, must not end a bridge.
  stderr.on('error', () => undefined);
}

/**
 * `env` decides over colours: NO_COLOR, then FORCE_COLOR, then whether it is a terminal (https://no-color.org; Node.js has
 * the first two the other way round).
 */
export function createTerminal(
  { json }: { readonly json: boolean },
  { stdout, stderr }: Streams = process,
  env: NodeJS.ProcessEnv = process.env,
): Terminal {
  const isPlain = json || !stderr.isTTY || env['TERM'] === 'dumb' || Boolean(env['NO_COLOR']);
  // A window may be made larger or smaller meanwhile.
  const columns = () => (isPlain ? 0 : stderr.columns);
  let isStatusShown = false;
  /** A status line that is shown makes room first, whichever stream is written to: both are on the one screen. */
  const write = (stream: NodeJS.WriteStream, data: string | Uint8Array) => {
    if (isStatusShown) stderr.write(eraseLine);
    isStatusShown = false;
    stream.write(data);
  };
  return {
    json,
    out: (data) => write(stdout, data),
    isForEyes: stdout.isTTY,
    result: (output) =>
      write(stdout, `${json ? printableJson(JSON.stringify(output.json)) : output.human}\n`),
    note: (text) => write(stderr, `${text}\n`),
    err: (text) => write(stderr, text),
    status(line) {
      if (columns() === 0) return;
      // Cut, because a line that wraps cannot be erased as one.
      write(stderr, line?.slice(0, columns() - 1) ?? '');
      isStatusShown = line !== undefined;
    },
    get columns() {
      return columns();
    },
    widthOf(stream) {
      const { isTTY, columns: width } = stream === 'out' ? stdout : stderr;
      return isTTY && width > 0 ? width : Infinity;
    },
    onReaderGone(act) {
      const listener = (error: NodeJS.ErrnoException) => {
        if (error.code === 'EPIPE') process.exit(act());
      };
      stdout.prependListener('error', listener);
      return () => stdout.off('error', listener);
    },
    style(style, text, stream = 'out') {
      if (env['NO_COLOR']) return text;
      return styleText(style, text, { stream: stream === 'out' ? stdout : stderr, validateStream: true });
    },
  };
}

import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** What a command gives back: one document for `--json`, the same for a person's eyes. */
export interface Output {
  readonly json: unknown;
  readonly human: string;
}

/** The one writer of both streams: data on stdout, everything for the person's eyes on stderr. */
export interface Terminal {
  readonly json: boolean;
  /** Data: raw text on stdout. */
  out(text: string): void;
  /** The result of a command, or one record of a stream: a JSON line with `--json`, else its human text and a line end. */
  result(output: Output): void;
  /** A notice on stderr, one line. */
  note(text: string): void;
  /** Raw text on stderr. */
  err(text: string): void;
  /** Styles text for stdout or stderr; `NO_COLOR`, `FORCE_COLOR` and pipes are obeyed. */
  style(style: Style, text: string, stream?: 'out' | 'err'): string;
}

export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
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
  // A reader that has seen enough (`| head`) is no failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    json,
    out: (text) => void stdout.write(text),
    result: (output) => void stdout.write(`${json ? JSON.stringify(output.json) : output.human}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    err: (text) => void stderr.write(text),
    style(style, text, stream = 'out') {
      if (env['NO_COLOR']) return text;
      return styleText(style, text, { stream: stream === 'out' ? stdout : stderr, validateStream: true });
    },
  };
}

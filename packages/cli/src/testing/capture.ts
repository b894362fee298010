import { Writable } from 'node:stream';
import type { Streams } from '../io/terminal.ts';

/** Two streams, and what was written to them: no terminal, unless they have `columns`. */
export function capture(columns?: number): {
  streams: Streams;
  text: () => { stdout: string; stderr: string };
} {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => {
    const writable = new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
    return Object.assign(writable, columns !== undefined && { isTTY: true, columns }) as NodeJS.WriteStream;
  };
  return { streams: { stdout: stream('stdout'), stderr: stream('stderr') }, text: () => ({ ...written }) };
}

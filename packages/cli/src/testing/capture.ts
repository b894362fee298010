import { Writable } from 'node:stream';
import type { Streams } from '../io/terminal.ts';

/** Two streams that are no terminal, and what was written to them. */
export function capture(): { streams: Streams; text: () => { stdout: string; stderr: string } } {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    }) as unknown as NodeJS.WriteStream;
  return { streams: { stdout: stream('stdout'), stderr: stream('stderr') }, text: () => ({ ...written }) };
}

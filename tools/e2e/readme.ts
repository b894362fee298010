import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A command of the README's transcript, and what the reader is told it prints. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** The steps of all `console` blocks of the README, in order. */
export function readmeTranscript(): Step[] {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  return [...readme.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = '', ...output] = step.split('\n');
        return { command, output: output.join('\n').trim() };
      }),
  );
}

/** The output of a step as a pattern: what differs from run to run stands as `…` in the README. */
export function outputPattern(output: string): RegExp {
  const escaped = output.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  return new RegExp(escaped.join('[^\\n]*'), 'm');
}

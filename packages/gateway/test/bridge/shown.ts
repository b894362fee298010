import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** What a program that nobody here wrote has shown so far, both streams together, and how it ended. */
export interface Shown {
  /** The first match; fails when the program ends without one. */
  match(pattern: RegExp): Promise<RegExpExecArray>;
  text(): string;
  /** Types a line. */
  type(line: string): void;
  /** The exit code, when all was said. */
  readonly ended: Promise<number | null>;
  end(): void;
}

/** Runs a program until it ends or the test does. */
export function show(program: string, ...args: string[]): Shown {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined); // it may end without reading
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let text = '';
  let isOver = false;
  const looks = new Set<() => void>();
  const lookAgain = () => looks.forEach((look) => look());
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      lookAgain();
    });
  void ended.then(() => {
    isOver = true;
    lookAgain();
  });
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  return {
    ended,
    text: () => text,
    type: (line) => void child.stdin.write(`${line}\n`),
    end: () => void child.kill(),
    match: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text);
          if (match) resolve(match);
          else if (isOver) reject(new Error(`${program} ended without ${String(pattern)}:\n${text}`));
          else return;
          looks.delete(look);
        };
        looks.add(look);
        look();
      }),
  };
}

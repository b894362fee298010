import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A program that a test runs: what it printed so far, and waits for what it will print. */
export class Program {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  /** Both streams as they came, like a terminal shows them. */
  screen = '';
  readonly #waiting = new Set<() => void>();

  constructor(
    command: string,
    args: readonly string[],
    options: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
  ) {
    this.child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin?.end(options.input ?? '');
    for (const stream of ['stdout', 'stderr'] as const) {
      this.child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        this[stream] += text;
        this.screen += text;
        for (const look of this.#waiting) look();
      });
    }
    this.child.on('close', () => {
      for (const look of this.#waiting) look();
    });
  }

  get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The first match of `pattern` on the screen; fails when the program ends without one. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.screen);
        if (match) resolve(match);
        else if (this.ended) reject(new Error(`ended without ${String(pattern)}:\n${this.screen}`));
        else return;
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The exit code, or the signal's name. */
  async end(): Promise<number | string | null> {
    if (!this.ended || this.child.stdout?.readable === true) await once(this.child, 'close');
    return this.child.exitCode ?? this.child.signalCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    if (!this.ended) this.child.kill(signal);
    return this.end();
  }
}

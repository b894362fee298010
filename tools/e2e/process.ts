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
    options: { cwd: string; env: NodeJS.ProcessEnv; input?: string; isTyped?: boolean },
  ) {
    // A group of its own, as a shell makes one for a job: `npx` and what it starts get a signal together.
    this.child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    // A program that ends without reading its input is no failure of the test.
    this.child.stdin?.on('error', () => undefined);
    if (options.isTyped !== true) this.child.stdin?.end(options.input ?? '');
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

  /** More input, where it is `isTyped` and so has no end. */
  type(text: string): void {
    this.child.stdin?.write(text);
  }

  get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The first match of `pattern` on the screen; fails when the program ends without one. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.screen), String(pattern));
  }

  /** What `look` finds once the program has printed enough; fails when it ends before. */
  until<T>(look: () => T | null | undefined | false, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const lookAgain = () => {
        const found = look();
        if (found !== null && found !== undefined && found !== false) resolve(found);
        else if (this.ended) reject(new Error(`ended without ${what}:\n${this.screen}`));
        else return;
        this.#waiting.delete(lookAgain);
      };
      this.#waiting.add(lookAgain);
      lookAgain();
    });
  }

  /** The exit code, or the signal's name. */
  async end(): Promise<number | string | null> {
    if (!this.ended || this.child.stdout?.readable === true) await once(this.child, 'close');
    return this.child.exitCode ?? this.child.signalCode;
  }

  /** Sends the signal to the whole job, as a terminal does, and waits for its end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    this.signal(signal);
    return this.end();
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    try {
      if (pid !== undefined) process.kill(-pid, signal);
    } catch {
      // ESRCH: nobody of the job is left
    }
  }
}

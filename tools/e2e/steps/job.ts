import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Program } from '../process.ts';
import type { StepBench } from './bench.ts';
import { describeProcess, processesOf, sessionLog, until, type LoggedEvent } from './session-log.ts';

/**
 * What a session runs. Whoever runs it, or anything of it, holds the lock: a second holder leaves `overlap` in the trace.
 * One process moves out of the group; the events on standard input are counted; a line from `go` lets it end.
 */
const command = `exec 9>>lock; flock -n 9 || echo overlap >>trace
echo one; echo "start $$" >>trace; setsid sleep 1000 >/dev/null 2>&1 &
grep -c '"session.message"' | sed 's/^/prompts: /'
read -r _ <go; echo two; echo end >>trace`;

/** The main job in a directory of its own, on a bench that others use before and after, never meanwhile. */
export class Job {
  readonly #bench: StepBench;
  readonly #directory: string;
  readonly #go: number;
  #bridge: Program | undefined;
  #run: Program | undefined;

  constructor(bench: StepBench) {
    this.#bench = bench;
    this.#directory = mkdtempSync(join(bench.folder, 'job-'));
    const pipe = join(this.#directory, 'go');
    execFileSync('mkfifo', [pipe]);
    // For reading, too: then it opens without a reader, and keeps what was written until there is one.
    this.#go = openSync(pipe, 'r+');
    for (const proxy of bench.proxies) proxy.forget();
  }

  startBridge(): void {
    this.#bridge = this.#bench.sallyport(['bridge', 'run', '--dir', this.#directory, '--exec', command]);
  }

  /** kill -9 of the bridge alone: what it leaves behind ends by itself, before there is another bridge. */
  async killBridge(): Promise<void> {
    await this.#bridge?.stop('SIGKILL');
    await this.#nothingIsLeft();
  }

  /** Resolves when the session's process runs; gives its pid. */
  async started(): Promise<number> {
    return until(() => this.trace.map((line) => Number(/^start (\d+)$/.exec(line)?.[1])).find(Boolean));
  }

  /** kill -9 of the session's process alone: those that it started are left behind. */
  async killProcess(): Promise<void> {
    process.kill(await this.started(), 'SIGKILL');
  }

  /** Resolves when the bridge, one that was started in its place included, waits for work. */
  async bridgeWaits(): Promise<void> {
    for (;;) {
      const bridge = this.#bridge;
      try {
        await bridge?.shows(/Waiting for work/);
        return;
      } catch (error) {
        if (bridge === this.#bridge) throw error;
      }
    }
  }

  /** The same for whatever runs now; gives whether anything did. */
  killRunningProcess(): boolean {
    const { trace } = this;
    const pid = Number(/^start (\d+)$/.exec(trace.at(-1) ?? '')?.[1]);
    if (Number.isNaN(pid)) return false;
    try {
      return process.kill(pid, 'SIGKILL');
    } catch {
      return false; // ended by itself, or with its bridge
    }
  }

  async startSession(): Promise<void> {
    await this.bridgeWaits();
    this.#run = this.#bench.sallyport(['session', 'run', 'look', '--env', this.#environmentId ?? '']);
  }

  /** `undefined`: the bridge was never told. */
  get #environmentId(): string | undefined {
    return /environment (env_\w+)/i.exec(this.#bridge?.screen ?? '')?.[1];
  }

  async #nothingIsLeft(): Promise<void> {
    const environmentId = this.#environmentId;
    if (environmentId !== undefined) await until(() => processesOf(environmentId).length === 0);
  }

  /** Lets the command end. */
  go(): void {
    writeSync(this.#go, '\n');
  }

  /** Resolves when `session run` has ended. */
  async runEnds(): Promise<void> {
    await this.#run!.end();
  }

  get trace(): readonly string[] {
    const file = join(this.#directory, 'trace');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** How `session run` ended, after what must hold however the job went has been checked. */
  async outcome(): Promise<Outcome> {
    const run = this.#run!;
    const exitCode = await run.end();
    const [, sessionId = ''] = /session (session_\w+) on/.exec(run.screen) ?? [];
    const { proxies } = this.#bench;
    const log = await sessionLog(this.#bench, sessionId);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(new Set(log.map(({ id }) => id)).size).toBe(log.length);
    // What was acknowledged is there, where it was said to be.
    const acknowledged = proxies.flatMap((proxy) => proxy.acknowledged);
    expect(log.map(({ id, seq }) => ({ id, seq }))).toEqual(expect.arrayContaining(acknowledged));
    expect(linesOf(log).join('')).toBe(run.stdout);
    await this.#nothingIsLeft();
    // However often it was registered, it is one environment.
    const directories = await this.#bench.directories();
    expect(directories.filter((directory) => directory === this.#directory)).toHaveLength(1);
    expect(this.trace).not.toContain('overlap');
    const { status, reason } = log.findLast(({ type }) => type === 'session.updated')?.data ?? {};
    return {
      exitCode,
      status,
      ...(reason !== undefined && { reason }),
      output: run.stdout,
      starts: this.trace.filter((line) => line.startsWith('start')).length,
    };
  }

  /** What the person sees. */
  get screen(): string {
    return `${this.#run?.screen ?? ''}\n--- bridge\n${this.#bridge?.screen ?? ''}`;
  }

  /** Ends the bridge as Ctrl-C does. */
  async end(): Promise<void> {
    await this.bridgeWaits();
    expect(await this.#bridge?.stop('SIGINT')).toBe(0);
  }

  async abandon(): Promise<void> {
    await Promise.all([this.#bridge?.stop('SIGKILL'), this.#run?.stop('SIGKILL')]);
    closeSync(this.#go);
    // There are some only where the test has failed.
    for (const pid of processesOf(this.#environmentId ?? '')) {
      console.error(`left behind: ${describeProcess(pid)}`);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // gone by now
      }
    }
  }
}

export interface Outcome {
  readonly exitCode: number | string | null;
  readonly status: unknown;
  readonly reason?: unknown;
  readonly output: string;
  /** How often the command was started. */
  readonly starts: number;
}

function linesOf(log: readonly LoggedEvent[]): string[] {
  return log
    .filter(({ type, data }) => type === 'session.output' && data['stream'] === 'stdout')
    .map(({ data }) => `${String(data['text'])}\n`);
}

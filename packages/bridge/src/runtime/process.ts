import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { reasonOf, type Clock, type Timer } from '@sallyport/core';
import type { SessionEvent } from '@sallyport/core/contract';
import { sessionEnvironment, type EnvironmentOptions } from './environment.ts';
import type { Execution, Executor, Exit, Job, StopSignal } from './executor.ts';
import { withLifeline } from './lifeline.ts';
import { OutputLines } from './output.ts';
import { Redactor } from './redactor.ts';
import { secretsOf } from './secrets.ts';
import { killTree, signalGroup } from './process-tree.ts';

/** After the process's exit, how long others may hold its pipes. */
const pipeGraceMs = 2_000;
/** The most input that waits for a process that does not read it, and one event. */
const inputHighBytes = 1024 * 1024;

export interface ShellExecutorOptions {
  readonly command: string;
  readonly environment: EnvironmentOptions;
  readonly clock: Clock;
}

/**
 * Runs sessions as processes of the shell, each the leader of a group of its own: events as NDJSON on its standard input,
 * its output as events (`OutputLines`), without the secrets of the bridge's environment. When it has ended, or the bridge is gone, nothing of its tree is left.
 */
export function shellExecutor({ command, environment, clock }: ShellExecutorOptions): Executor {
  const secrets = secretsOf(environment.inherited);
  return (job) => {
    const child = spawn('/bin/sh', withLifeline(command), {
      cwd: job.directory,
      env: sessionEnvironment(environment, job),
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    return isPiped(child) ? new ShellProcess(child, job, { clock, secrets }) : notStarted(child, job);
  };
}

/** Out of file descriptors, Node.js makes no pipes at all, whatever its types say. */
function isPiped(child: ChildProcess): child is ChildProcessByStdio<Writable, Readable, Readable> {
  return Boolean(child.stdout);
}

function notStarted(child: ChildProcess, job: Job): Execution {
  const idle = () => undefined;
  const ended = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve(toExit(error, job)));
  });
  return { pid: undefined, ended, deliver: idle, endInput: idle, pause: idle, resume: idle, signal: idle };
}

/** The exit of a process that never was, as a shell gives it; its words go where a shell's would. */
function toExit(error: Error, { directory, emit }: Job): Exit {
  const reason = existsSync(directory) ? reasonOf(error) : `there is no directory ${directory}`;
  emit('session.output', { stream: 'stderr', text: `cannot start: ${reason}` });
  return { exitCode: 127, signal: null };
}

function read(pipe: Readable, redactor: Redactor, lines: OutputLines): void {
  pipe.on('data', (chunk: Buffer) => lines.write(redactor.write(chunk)));
  pipe.on('end', () => {
    lines.write(redactor.end());
    lines.end();
  });
}

class ShellProcess implements Execution {
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #job: Job;
  readonly #clock: Clock;
  #isPaused = false;
  /** The system may have given its pid to others. */
  #isGone = false;

  constructor(
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    job: Job,
    { clock, secrets }: { readonly clock: Clock; readonly secrets: readonly string[] },
  ) {
    this.#child = child;
    this.#job = job;
    this.#clock = clock;
    // A process that closed its input, or is gone: `ended` tells.
    for (const pipe of child.stdio) pipe?.on('error', () => undefined);
    read(child.stdout, new Redactor(secrets), new OutputLines('stdout', job.emit));
    read(child.stderr, new Redactor(secrets), new OutputLines('stderr', job.emit));
    this.ended = this.#run();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  deliver(event: SessionEvent): Promise<unknown> | undefined {
    const { stdin } = this.#child;
    if (!stdin.writable) return undefined;
    stdin.write(`${JSON.stringify(event)}\n`);
    if (stdin.writableLength <= inputHighBytes) return undefined;
    return new Promise((resolve) => {
      stdin.once('drain', resolve);
      stdin.once('close', resolve);
    });
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  pause(): void {
    this.#isPaused = true;
    this.#child.stdout.pause();
    this.#child.stderr.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#child.stdout.resume();
    this.#child.stderr.resume();
  }

  signal(signal: StopSignal): void {
    // Without a pid it was never started, so there is no group of ours.
    if (this.#child.pid === undefined || this.#isGone) return;
    if (signal === 'SIGKILL') void killTree(this.#child.pid, this.#job);
    else signalGroup(this.#child.pid, signal);
  }

  async #run(): Promise<Exit> {
    const { stdout, stderr, pid } = this.#child;
    const closed = Promise.all(
      [stdout, stderr].map((pipe) => new Promise((resolve) => pipe.once('close', resolve))),
    );
    const exit = await this.#exit();
    if (pid === undefined) return exit;
    await this.#grace(closed);
    await killTree(pid, this.#job);
    // Nobody of ours is left who could write, so the pipes end with what they still hold.
    await this.#grace(closed);
    for (const pipe of this.#child.stdio) pipe?.destroy();
    this.#isGone = true;
    return exit;
  }

  #exit(): Promise<Exit> {
    return new Promise((resolve) => {
      this.#child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
      this.#child.once('error', (error) => {
        if (this.#child.pid !== undefined) return; // a signal that could not be sent
        resolve(toExit(error, this.#job));
      });
    });
  }

  /** Waits for the pipes' end, but not for ever: others may hold them. While we do not read, no time passes. */
  async #grace(closed: Promise<unknown>): Promise<void> {
    let timer: Timer | undefined;
    const quiet = new Promise<void>((resolve) => {
      const wait = () => {
        timer = this.#clock.after(pipeGraceMs, () => (this.#isPaused ? wait() : resolve()));
      };
      wait();
    });
    await Promise.race([closed, quiet]);
    timer?.cancel();
  }
}

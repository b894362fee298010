import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { binDir, type Installation, type RunOptions } from '../installation.ts';
import type { Program } from '../process.ts';

/** It takes Linux, and the right to mount in a namespace of one's own. */
export const canMountDisks = spawnSync('unshare', ['-m', 'true']).status === 0;

/** A folder that is a disk of its own for the programs that are run by it, and for nobody else. */
export class SmallDisk {
  readonly #installation: Installation;
  readonly #folder: string;
  readonly #pid: number;

  private constructor(installation: Installation, folder: string, pid: number) {
    this.#installation = installation;
    this.#folder = folder;
    this.#pid = pid;
  }

  /** Root may write where modes forbid it, but not on a disk that is full, or mounted read-only. */
  static async mount(installation: Installation, folder: string, size: string): Promise<SmallDisk> {
    mkdirSync(folder, { recursive: true });
    const script = `mount -t tmpfs -o size=${size} tmpfs '${folder}' && echo mounted && exec sleep 1000`;
    const holder = installation.run('unshare', ['-m', 'sh', '-c', script]);
    await holder.shows(/^mounted$/m);
    return new SmallDisk(installation, folder, holder.child.pid!);
  }

  run(command: string, args: readonly string[], options?: RunOptions): Program {
    const entered = ['-t', String(this.#pid), '-m', command, ...args];
    return this.#installation.run('nsenter', entered, options);
  }

  /** One of the workspace's programs. */
  bin(name: 'sallyport' | 'sallyport-gateway', args: readonly string[], options?: RunOptions): Program {
    return this.run(join(binDir, name), args, options);
  }

  /** Leaves not one byte. */
  fill(): void {
    const file = openSync(this.#filler, 'w');
    for (const size of [64 * 1024, 4096, 1]) {
      const block = Buffer.alloc(size);
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
    closeSync(file);
  }

  makeRoom(): void {
    rmSync(this.#filler);
  }

  async remount(mode: 'ro' | 'rw'): Promise<void> {
    const mount = this.run('mount', ['-o', `remount,${mode}`, this.#folder]);
    if ((await mount.end()) !== 0) throw new Error(mount.screen);
  }

  /** The path by which who is outside reaches `folder`'s content. */
  inside(...path: readonly string[]): string {
    return join('/proc', String(this.#pid), 'root', this.#folder, ...path);
  }

  get #filler(): string {
    return this.inside('fill');
  }
}

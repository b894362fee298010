import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../installation.ts';
import type { Program } from '../process.ts';
import { SmallDisk } from './small-disk.ts';

export type Fault = 'read-only' | 'full';

/** The folder of a person's configuration as a disk of its own, with the installation's login on it if it has one. */
export class ConfigDisk {
  readonly #disk: SmallDisk;
  readonly #fault: Fault;

  private constructor(disk: SmallDisk, fault: Fault) {
    this.#disk = disk;
    this.#fault = fault;
  }

  static async mount(
    installation: Installation,
    fault: Fault,
    { isLoggedIn = true } = {},
  ): Promise<ConfigDisk> {
    const folder = join(installation.folder, 'config');
    const disk = await SmallDisk.mount(installation, folder, '256k');
    if (isLoggedIn) cpSync(folder, disk.inside(), { recursive: true });
    return new ConfigDisk(disk, fault);
  }

  async spoil(): Promise<void> {
    if (this.#fault === 'full') this.#disk.fill();
    else await this.#disk.remount('ro');
  }

  async mend(): Promise<void> {
    if (this.#fault === 'full') this.#disk.makeRoom();
    else await this.#disk.remount('rw');
  }

  start(args: readonly string[], input?: string): Program {
    return this.#disk.bin('sallyport', args, input === undefined ? {} : { input });
  }

  async sallyport(args: readonly string[], input?: string): Promise<Program> {
    const program = this.start(args, input);
    await program.end();
    return program;
  }

  list(...path: string[]): string[] {
    return readdirSync(this.#disk.inside(...path));
  }

  /** The access token has run out, as far as the commands know. */
  expire(): void {
    const file = this.#disk.inside('state/logins', this.list('state/logins')[0]!);
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...stored, expiresAt: 0 }));
  }
}

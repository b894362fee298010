import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation } from '../installation.ts';
import type { Topology } from '../topologies.ts';

/** An installation in which some of the programs have a clock of their own that the test sets. */
export class ClockBench extends Installation {
  readonly #file = join(this.folder, 'shift');

  constructor(topology?: Topology) {
    super(topology);
    this.set(0);
  }

  set(shiftMs: number): void {
    writeFileSync(this.#file, String(shiftMs));
  }

  get shifted(): NodeJS.ProcessEnv {
    const preload = join(import.meta.dirname, 'shifted-clock.mjs');
    return { NODE_OPTIONS: `--import=${preload}`, SHIFTED_CLOCK: this.#file };
  }
}

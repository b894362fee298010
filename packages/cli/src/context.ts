import { createIds, systemClock, systemRandom, type Clock, type Ids, type Random } from '@sallyport/core';
import { readSettings, type Settings, type SettingsFlags } from './config/settings.ts';
import type { Interrupt } from './io/interrupt.ts';
import type { Streams, Terminal } from './io/terminal.ts';

/** What every command gets; whatever is heavy is imported by the command that needs it. */
export interface Context {
  /** Read when first asked for: the commands that mend the files must run while they say nonsense. */
  readonly settings: Settings;
  /** What the command line itself says about the settings. */
  readonly flags: SettingsFlags;
  readonly terminal: Terminal;
  readonly interrupt: Interrupt;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Runs when the command has ended, in reverse order: connections closed, telemetry flushed. */
  onEnd(act: () => Promise<void>): void;
}

/** What a run has of its process; a test gives one of its own. */
export interface Surroundings extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: () => string;
}

export function createContext(
  flags: SettingsFlags,
  terminal: Terminal,
  interrupt: Interrupt,
  { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>,
) {
  const ends: (() => Promise<void>)[] = [];
  let settings: Settings | undefined;
  const context: Context = {
    get settings() {
      return (settings ??= readSettings(flags, env, cwd()));
    },
    flags,
    terminal,
    interrupt,
    env,
    clock: systemClock,
    random: systemRandom,
    ids: createIds(systemClock, systemRandom),
    onEnd: (act) => void ends.push(act),
  };
  const end = async () => {
    for (const act of ends.reverse()) await act();
  };
  return { context, end };
}

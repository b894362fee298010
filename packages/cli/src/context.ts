import { createIds, systemClock, systemRandom, type Clock, type Ids, type Random } from '@sallyport/core';
import type { Settings } from './config/settings.ts';
import type { Interrupt } from './io/interrupt.ts';
import type { Terminal } from './io/terminal.ts';

/** What every command gets; whatever is heavy is imported by the command that needs it. */
export interface Context {
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly interrupt: Interrupt;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Runs when the command has ended, in reverse order: connections closed, telemetry flushed. */
  onEnd(act: () => Promise<void>): void;
}

export function createContext(settings: Settings, terminal: Terminal, interrupt: Interrupt) {
  const ends: (() => Promise<void>)[] = [];
  const context: Context = {
    settings,
    terminal,
    interrupt,
    env: process.env,
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

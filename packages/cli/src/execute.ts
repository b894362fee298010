import type { Command } from 'commander';
import type { Act, CommandAct } from './commands/act.ts';
import type { SettingsFlags } from './config/settings.ts';
import { createContext, type Surroundings } from './context.ts';
import { exitCodes } from './io/exit.ts';
import { watchInterrupts } from './io/interrupt.ts';
import { createTerminal } from './io/terminal.ts';

interface GlobalOptions extends SettingsFlags {
  readonly json?: boolean;
}

/** Makes the actions of commands; `setExitCode` is told how each ended. */
export function createAct(setExitCode: (code: number) => void, surroundings: Surroundings): Act {
  return <O>(load: () => Promise<CommandAct<O>>) =>
    async (...all: unknown[]) => {
      const command = all.at(-1) as Command;
      // Of `<ids...>` commander makes one array.
      const args = all.slice(0, -2).flat() as string[];
      // Imported now, and not before: start-up is what everyone waits for.
      setExitCode(await execute(await load(), command, args, surroundings));
    };
}

async function execute<O>(
  run: CommandAct<O>,
  command: Command,
  args: string[],
  surroundings: Surroundings,
): Promise<number> {
  const options = command.optsWithGlobals<O & GlobalOptions>();
  const terminal = createTerminal({ json: options.json === true }, surroundings, surroundings.env);
  const interrupt = watchInterrupts();
  const { context, end } = createContext(options, terminal, interrupt, surroundings);
  try {
    const result = await run(context, options, ...args);
    if (typeof result === 'number') return result;
    if (result !== undefined) terminal.result(result);
    return exitCodes.done;
  } catch (error) {
    const { reportFailure } = await import('./io/failure.ts');
    return reportFailure(error, terminal, context);
  } finally {
    await end();
    interrupt.release();
  }
}

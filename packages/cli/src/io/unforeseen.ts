import { createTerminal } from './terminal.ts';

/** What no command caught ends the process with a sentence all the same, and not with the lines of a stack. */
export function tellUnforeseen(argv: readonly string[]): void {
  const end = async (error: unknown) => {
    const { reportFailure } = await import('./failure.ts');
    const terminal = createTerminal({ json: argv.includes('--json') });
    process.exit(reportFailure(error, terminal, { env: process.env }));
  };
  // A rejection that nobody waits for comes here too.
  process.once('uncaughtException', (error) => void end(error));
}

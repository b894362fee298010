import { InvalidArgumentError, type Command } from 'commander';
import { asJson, configurable, type ConfigFlags } from './flags.ts';
import type { PrintFlags } from './print.ts';

/** `admin feedback ...`. */
export function addFeedbackCommands(feedback: Command): void {
  const load = () => import('./feedback.ts');

  configurable(feedback.command('list'))
    .description('Prints what was received, the newest first.')
    .option('--limit <count>', 'at most so many', toCount, 100)
    .option(...asJson)
    .action(async (flags: ConfigFlags & PrintFlags & { limit: number }) =>
      (await load()).listFeedback(flags),
    );

  configurable(feedback.command('get <id>'))
    .description('Prints one as JSON, with where its bundle is.')
    .option('--output <file>', 'copies the bundle into a new file')
    .action(async (id: string, flags: ConfigFlags & { output?: string }) =>
      (await load()).getFeedback(id, flags),
    );
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
  return count;
}

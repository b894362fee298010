import type { Command } from 'commander';
import { asJson, configurable, limitedTo, type ConfigFlags } from './flags.ts';
import type { PrintFlags } from './print.ts';

/** `admin feedback ...`. */
export function addFeedbackCommands(feedback: Command): void {
  const load = () => import('./feedback.ts');

  configurable(feedback.command('list'))
    .description('Prints what was received, the newest first.')
    .option(...limitedTo(1000))
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

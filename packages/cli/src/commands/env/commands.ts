import { Option, type Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect } from '../option-values.ts';
import { takeOptions } from '../take.ts';

export function addEnvCommands(program: Command, act: Act): void {
  const env = program.command('env').description('Manage the environments that sessions run in');
  examples(
    takeOptions(env.command('list'))
      .description("List the organization's managed environments, newest first")
      .option('--name <part>', 'only those with this in their name')
      .addOption(
        new Option('--online', 'those whose bridge is online, managed or not').conflicts([
          'name',
          'limit',
          'all',
        ]),
      )
      .action(act(async () => (await import('./list.ts')).envList)),
    'sallyport env list',
    'sallyport env list --name build --all --json',
    'sallyport env list --online',
  );
  examples(
    env
      .command('get')
      .description('Show one environment')
      .argument('<id>', 'the environment')
      .action(act(async () => (await import('./get.ts')).envGet)),
    'sallyport env get env_01',
    'sallyport env get env_01 --json',
  );
  examples(
    env
      .command('create')
      .description(
        'Create a managed environment; it takes sessions at once, and runs them when it has a bridge',
      )
      .requiredOption('--name <name>', 'the name of its machine in lists')
      .requiredOption('--dir <directory>', 'the directory on that machine')
      .option('--metadata <key=value>', 'a member of its metadata; may be repeated', collect, [])
      .action(act(async () => (await import('./create.ts')).envCreate)),
    'sallyport env create --name build-1 --dir /srv/work',
    'sallyport env create --name build-1 --dir /srv/work --metadata os=linux --metadata team=core',
  );
  examples(
    env
      .command('update')
      .description('Change what is given of an environment')
      .argument('<id>', 'the environment')
      .option('--name <name>', 'the name of its machine in lists')
      .option('--dir <directory>', 'the directory on that machine')
      .option('--metadata <key=value>', 'set a member of its metadata; may be repeated', collect, [])
      .option('--unset <key>', 'remove a member of its metadata; may be repeated', collect, [])
      .action(act(async () => (await import('./update.ts')).envUpdate)),
    'sallyport env update env_01 --name build-2',
    'sallyport env update env_01 --metadata team=infra --unset os',
  );
  examples(
    env
      .command('archive')
      .description(
        'Deactivate an environment and keep its record: its work is asked to stop, its bridge ends',
      )
      .argument('<id>', 'the environment')
      .action(act(async () => (await import('./archive.ts')).envArchive)),
    'sallyport env archive env_01',
  );
  examples(
    env
      .command('delete')
      .description('Delete environments for good; their sessions are ended at once')
      .argument('<id...>', 'the environments')
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./delete.ts')).envDelete)),
    'sallyport env delete env_01',
    'sallyport env delete env_01 env_02 --yes',
  );
}

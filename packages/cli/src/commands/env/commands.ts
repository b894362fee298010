import { Option, type Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { environmentKinds, environmentStates } from '../environment-states.ts';
import { choices, collect } from '../option-values.ts';
import { takeOptions } from '../take.ts';

const theEnvironment = 'the environment: its id, the beginning of it, or its name';

export function addEnvCommands(program: Command, act: Act): void {
  const env = program.command('env').description('Manage the environments that sessions run in');
  examples(
    takeOptions(env.command('list'))
      .description('List what a session can run on, and what is archived: those online first')
      .option('--name <part>', 'only those with this in their name')
      .addOption(
        new Option('--kind <kind>', 'made by a bridge, or by `env create`').choices(environmentKinds),
      )
      .addOption(choices('--state <state>', 'only those in this state', environmentStates))
      .addOption(new Option('--online', 'the same as --state online').conflicts('state'))
      .option('--tag <tag>', 'only those with this tag; may be repeated', collect, [])
      .action(act(async () => (await import('./list.ts')).envList)),
    'sallyport env list',
    'sallyport env list --name build --all --json',
    'sallyport env list --online --tag linux',
    'sallyport env list --kind managed --state archived',
  );
  examples(
    env
      .command('get')
      .description('Show one environment')
      .argument('<id>', theEnvironment)
      .action(act(async () => (await import('./get.ts')).envGet)),
    'sallyport env get build-1',
    'sallyport env get env_01 --json',
  );
  examples(
    env
      .command('create')
      .description(
        'Create a managed environment; it takes sessions at once, and runs them when it has a bridge',
      )
      .requiredOption('--name <name>', 'the name of its machine in lists')
      .requiredOption('--dir <directory>', 'the directory on that machine, as its whole path')
      .option('--metadata <key=value>', 'a member of its metadata; may be repeated', collect, [])
      .action(act(async () => (await import('./create.ts')).envCreate)),
    'sallyport env create --name build-1 --dir /srv/work',
    'sallyport env create --name build-1 --dir /srv/work --metadata os=linux --metadata team=core',
  );
  examples(
    env
      .command('update')
      .description('Change what is given of an environment')
      .argument('<id>', theEnvironment)
      .option('--name <name>', 'the name of its machine in lists')
      .option('--dir <directory>', 'the directory on that machine, as its whole path')
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
      .argument('<id>', theEnvironment)
      .action(act(async () => (await import('./archive.ts')).envArchive)),
    'sallyport env archive env_01',
  );
  examples(
    env
      .command('delete')
      .description('Delete environments for good; their sessions are ended at once')
      .argument('<id...>', 'the environments, each by its id, the beginning of it, or its name')
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./delete.ts')).envDelete)),
    'sallyport env delete env_01',
    'sallyport env delete env_01 env_02 --yes',
  );
}

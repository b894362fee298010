import { Argument, type Command } from 'commander';
import { keyNames, settingKeys } from '../../config/keys.ts';
import { examples } from '../../help.ts';
import { pairs } from '../../io/table.ts';
import type { Act } from '../act.ts';

export function addConfigCommands(program: Command, act: Act): void {
  const config = program
    .command('config')
    .description('Show and change the settings')
    .addHelpText('after', `\nSettings:\n${pairs(keyNames.map(describe))}`)
    .addHelpText(
      'after',
      '\nFlags win over SALLYPORT_* variables, over .sallyport.json of the project, over your file.',
    );
  examples(
    config
      .command('list')
      .description('List the settings that hold here')
      .option('--show-origin', 'say where each value comes from')
      .action(act(async () => (await import('./show.ts')).configList)),
    'sallyport config list --show-origin',
    'sallyport config list --json',
  );
  examples(
    config
      .command('get')
      .description('Print one setting; exit 4 where it has no value')
      .addArgument(key())
      .option('--show-origin', 'say where the value comes from')
      .action(act(async () => (await import('./show.ts')).configGet)),
    'sallyport config get base-url',
    'sallyport config get organization --show-origin',
  );
  examples(
    config
      .command('set')
      .description('Change a setting of yours: in the profile in use, if there is one')
      .addArgument(key())
      .argument('<value>', 'the new value')
      .action(act(async () => (await import('./change.ts')).configSet)),
    'sallyport config set base-url https://sallyport.example',
    'sallyport config set organization 0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b11',
  );
  examples(
    config
      .command('unset')
      .description('Forget a setting of yours')
      .addArgument(key())
      .action(act(async () => (await import('./change.ts')).configUnset)),
    'sallyport config unset organization',
    'sallyport config unset profile',
  );
  examples(
    config
      .command('path')
      .description('Print where your settings file is')
      .action(act(async () => (await import('./show.ts')).configPath)),
    'sallyport config path',
    '$EDITOR "$(sallyport config path)"',
  );
}

/** The choices are for the help and the completion; an unknown key is refused by the command, which knows the nearest. */
function key(): Argument {
  return Object.assign(new Argument('<key>', 'the setting'), { argChoices: [...keyNames] });
}

function describe(name: (typeof keyNames)[number]): readonly [string, string] {
  const { summary, variable, project } = settingKeys[name];
  return [`  ${name}`, `${summary} (${variable}${project ? '; may stand in a project' : ''})`];
}

import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { runOptions } from './run-options.ts';

export function addBridgeCommands(program: Command, act: Act): void {
  const bridge = program
    .command('bridge')
    .description('Turn this machine into an environment that sessions run on');
  examples(
    runOptions(bridge.command('run'))
      .description('Register a directory and run the work that comes, until interrupted')
      .option('--once', 'end after the first session')
      .option('--remove', 'remove the environment at the end')
      .action(act(async () => (await import('./run.ts')).bridgeRun)),
    "sallyport bridge run --exec 'git log --oneline | head -3'",
    "sallyport bridge run --exec 'my-agent --stdin' --interactive --max-sessions 2 --tag linux",
    "sallyport bridge run --env env_01 --exec 'my-agent --stdin'",
  );
  examples(
    runOptions(bridge.command('install'))
      .description('Write a systemd user unit that runs a bridge, now and after each restart of the machine')
      .option('--print', 'only show it')
      .action(act(async () => (await import('./install.ts')).bridgeInstall)),
    "sallyport bridge install --exec 'my-agent --stdin'",
    "sallyport bridge install --exec 'my-agent --stdin' --dir ~/app --print",
  );
  examples(
    bridge
      .command('uninstall')
      .description('Remove the unit that `bridge install` wrote')
      .option('--dir <directory>', 'the directory', process.cwd())
      .action(act(async () => (await import('./uninstall.ts')).bridgeUninstall)),
    'sallyport bridge uninstall',
    'sallyport bridge uninstall --dir ~/app',
  );
  examples(
    bridge
      .command('status')
      .description(
        'Show the bridges of this machine, whether they are online, the sessions they run, and what ended ones left',
      )
      .option('--dir <directory>', 'only those of this directory')
      .action(act(async () => (await import('./status.ts')).bridgeStatus)),
    'sallyport bridge status',
    'sallyport bridge status --dir . --json',
  );
  examples(
    bridge
      .command('stop')
      .description('End the bridge that runs in this directory, as Ctrl-C in its terminal does')
      .argument('[environment]', 'the bridge of this environment instead')
      .option('--dir <directory>', 'the directory', process.cwd())
      .action(act(async () => (await import('./stop.ts')).bridgeStop)),
    'sallyport bridge stop',
    'sallyport bridge stop env_01',
  );
  examples(
    bridge
      .command('clean')
      .description(
        'Remove worktrees of sessions that are over, where all of it is elsewhere, too; show what stays',
      )
      .argument('[session...]', 'remove what these left, whatever it is')
      .option('--dir <directory>', 'only of the bridges of this directory')
      .option('--yes', 'do not ask')
      .action(act(async () => (await import('./clean.ts')).bridgeClean)),
    'sallyport bridge clean',
    'sallyport bridge clean session_01 --yes',
  );
  examples(
    bridge
      .command('unregister')
      .description('Remove an environment for good; its sessions are stopped')
      .argument('[environment]', 'the environment')
      .option('--dir <directory>', 'the environment of this directory')
      .option('--yes', 'do not ask, though its bridge is online')
      .action(act(async () => (await import('./unregister.ts')).bridgeUnregister)),
    'sallyport bridge unregister env_01',
    'sallyport bridge unregister --dir .',
  );
}

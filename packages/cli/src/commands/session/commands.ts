import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect, naturalNumber } from '../option-values.ts';
import { takeOptions } from '../take.ts';

export function addSessionCommands(program: Command, act: Act): void {
  const session = program.command('session').description('Run and watch sessions');
  examples(
    session
      .command('run')
      .description('Create a session, show its output until it ends; exit 0 when it is done, else 1')
      .argument('<prompt>', 'what to do; `-` reads it from stdin')
      .option('--env <id>', 'the environment; default: the only one online')
      .option('--title <title>', 'a title for lists')
      .option('--tag <tag>', 'a tag; may be repeated', collect, [])
      .option('--detach', 'do not wait: print the id and leave')
      .action(act(async () => (await import('./run.ts')).sessionRun)),
    'sallyport session run "fix the failing test"',
    'sallyport session run - --detach < prompt.txt',
  );
  examples(
    takeOptions(session.command('list'))
      .description("List the organization's sessions, newest first")
      .action(act(async () => (await import('./list.ts')).sessionList)),
    'sallyport session list',
    'sallyport session list --limit 100 --json',
    'sallyport session list --all',
  );
  examples(
    session
      .command('show')
      .description('Show one session, and how it ended')
      .argument('<id>', 'the session')
      .action(act(async () => (await import('./show.ts')).sessionShow)),
    'sallyport session show session_01',
    'sallyport session show session_01 --json',
  );
  examples(
    session
      .command('logs')
      .description('Show what happened in a session, from the beginning')
      .argument('<id>', 'the session')
      .option('-f, --follow', 'go on until the session has ended')
      .option('--from-seq <number>', 'only the events after this one', naturalNumber, 0)
      .action(act(async () => (await import('./logs.ts')).sessionLogs)),
    'sallyport session logs -f session_01',
    'sallyport session logs session_01 --from-seq 40 --json',
  );
  examples(
    session
      .command('send')
      .description('Send a message to a session whose bridge runs with --interactive')
      .argument('<id>', 'the session')
      .argument('<text>', 'the message; `-` reads it from stdin')
      .action(act(async () => (await import('./send.ts')).sessionSend)),
    'sallyport session send session_01 "use the other branch"',
    'git diff | sallyport session send session_01 -',
  );
  examples(
    session
      .command('stop')
      .description('Ask for the end of a session; one that has ended stays as it is')
      .argument('<id>', 'the session')
      .option('--force', 'end it at once: its process is killed')
      .option('--wait', 'wait until it has ended')
      .action(act(async () => (await import('./stop.ts')).sessionStop)),
    'sallyport session stop session_01',
    'sallyport session stop session_01 --wait',
  );
  examples(
    session
      .command('delete')
      .description('Delete sessions with their events; running ones are ended')
      .argument('<id...>', 'the sessions')
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./delete.ts')).sessionDelete)),
    'sallyport session delete session_01',
    'sallyport session delete session_01 session_02 --yes',
  );
}

import { sessionStatuses } from '@sallyport/core/session-statuses';
import { Option, type Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { choices, collect, duration, environmentChoice, naturalNumber, starter } from '../option-values.ts';
import { takeOptions } from '../take.ts';

const theSession = 'the session: its id, or the beginning of it';
const theSessions = 'the sessions, each by its id, or the beginning of it';

export function addSessionCommands(program: Command, act: Act): void {
  const session = program.command('session').description('Run and watch sessions');
  examples(
    session
      .command('run')
      .description('Create a session, show its output until it ends; exit 0 when it is done, else 1')
      .argument('<prompt...>', 'what to do, in quotes or as words; `-` reads it from stdin')
      .option(
        '--env <environment>',
        'its id, the beginning of it, or its name; or `tag:NAME`: one online with that tag; default: the only one online',
        environmentChoice,
      )
      .option('--source <url>', 'a git repository to work in, `URL@REVISION`; may be repeated', collect, [])
      .option('--title <title>', 'a title for lists')
      .option('--tag <tag>', 'a tag; may be repeated', collect, [])
      .option('--timeout <time>', 'leave it to itself after 90s, 5m, 1h; exit 6', duration)
      .addOption(approveOption())
      .option('--detach', 'do not wait: print the id and leave')
      .action(act(async () => (await import('./run.ts')).sessionRun)),
    'sallyport session run "fix the failing test"',
    'sallyport session run - --detach < prompt.txt',
    'sallyport session run "fix the failing test" --source https://example.com/team/app@main --env tag:linux',
  );
  examples(
    takeOptions(session.command('list'))
      .description("List the organization's sessions, newest first")
      .option('--mine', 'only those that you started')
      .addOption(
        new Option('--by <who>', 'only those that WHO started: an e-mail address, or `me`')
          .argParser(starter)
          .conflicts('mine'),
      )
      .addOption(choices('--status <status>', 'only those with this status', sessionStatuses))
      .option('--env <environment>', 'only those of this environment, by id, the beginning of it, or name')
      .option('--tag <tag>', 'only those with this tag')
      .action(act(async () => (await import('./list.ts')).sessionList)),
    'sallyport session list',
    'sallyport session list --mine --all',
    'sallyport session list --by ann@example.com',
    'sallyport session list --status running,queued --env build-1',
    'sallyport session list --limit 100 --json',
  );
  examples(
    session
      .command('show')
      .description('Show one session, and how it ended')
      .argument('<id>', theSession)
      .action(act(async () => (await import('./show.ts')).sessionShow)),
    'sallyport session show session_01',
    'sallyport session show session_01 --json',
  );
  examples(
    session
      .command('logs')
      .description('Show what happened in a session, from the beginning')
      .argument('<id>', theSession)
      .option('-f, --follow', 'go on until the session has ended')
      .option('--from-seq <number>', 'only the events after this one', naturalNumber, 0)
      .option('--timeout <time>', 'leave after 90s, 5m, 1h; exit 6', duration)
      .addOption(approveOption())
      .action(act(async () => (await import('./logs.ts')).sessionLogs)),
    'sallyport session logs -f session_01',
    'sallyport session logs session_01 --from-seq 40 --json',
  );
  examples(
    session
      .command('wait')
      .description('Wait until sessions have ended; exit 0 if all are done, else 1')
      .argument('<id...>', theSessions)
      .option('--any', 'only until the first one has; exit 0 if that one is done')
      .option('--timeout <time>', 'give up after 90s, 5m, 1h; exit 6', duration)
      .action(act(async () => (await import('./wait.ts')).sessionWait)),
    'sallyport session wait session_01 session_02 --timeout 30m',
    'sallyport session wait session_01 session_02 --any --json',
  );
  examples(
    session
      .command('requests')
      .description('List what waits for your permission, in these sessions or in all that run')
      .argument('[id...]', theSessions)
      .action(act(async () => (await import('./requests.ts')).sessionRequests)),
    'sallyport session requests',
    'sallyport session requests session_01 --json',
  );
  examples(
    session
      .command('approve')
      .description('Answer what a session asks permission for; without an option you are asked')
      .argument('<id>', theSession)
      .addOption(new Option('--allow', 'allow it').conflicts(['deny', 'always']))
      .addOption(new Option('--deny', 'refuse it').conflicts(['allow', 'always']))
      .addOption(new Option('--always', 'allow it, and what is asked for until the session ends'))
      .addOption(
        new Option('--request <request>', 'this one of several; see `session requests`').conflicts('always'),
      )
      .action(act(async () => (await import('./approve.ts')).sessionApprove)),
    'sallyport session approve session_01',
    'sallyport session approve session_01 --allow',
    'sallyport session approve session_01 --request r1 --deny',
  );
  examples(
    session
      .command('diff')
      .description(
        'Show what a session changed in its worktree: here, or as its bridge tells it; exit 1 if that is not all',
      )
      .argument('<id>', 'the session')
      .option('--stat', 'the files, and how many lines of each')
      .option('--name-only', 'the files')
      .option('--remote', 'what its bridge tells, even where the worktree is on this machine')
      .action(act(async () => (await import('./diff.ts')).sessionDiff)),
    'sallyport session diff session_01',
    'sallyport session diff session_01 --stat',
    'sallyport session diff session_01 | git apply',
  );
  examples(
    session
      .command('send')
      .description('Send a message to a session whose bridge runs with --interactive')
      .argument('<id>', theSession)
      .argument('<text...>', 'the message, in quotes or as words; `-` reads it from stdin')
      .action(act(async () => (await import('./send.ts')).sessionSend)),
    'sallyport session send session_01 "use the other branch"',
    'git diff | sallyport session send session_01 -',
  );
  examples(
    session
      .command('stop')
      .description('Ask for the end of a session; one that has ended stays as it is')
      .argument('<id>', theSession)
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
      .argument('<id...>', theSessions)
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./delete.ts')).sessionDelete)),
    'sallyport session delete session_01',
    'sallyport session delete session_01 session_02 --yes',
  );
}

function approveOption(): Option {
  const description =
    'what is answered when the command asks for permission; default: on a terminal `ask`, else nothing';
  return new Option('--approve <how>', description).choices(['ask', 'always', 'never']);
}

import { Option, type Command } from 'commander';
import { collect, positiveInteger } from '../option-values.ts';

/** What `bridge run` takes, and `bridge install` hands on to it. */
export interface BridgeRunOptions {
  readonly dir: string;
  readonly name?: string;
  readonly env?: string;
  readonly exec?: string;
  readonly maxSessions: number;
  readonly tag: readonly string[];
  readonly envPass?: readonly string[];
  readonly interactive?: boolean;
  readonly worktrees: 'keep' | 'remove' | 'changed';
  readonly changes: 'patch' | 'files' | 'none';
  readonly onEnd?: string;
}

export function runOptions(command: Command): Command {
  return command
    .option('--dir <directory>', 'the working directory', process.cwd())
    .option('--name <name>', 'the name of this machine in lists; a managed environment keeps its own')
    .option('--env <environment>', 'be the bridge of this one, by id or name; see `env create`')
    .option(
      '--exec <command>',
      'the command of each session, run in its directory or worktree: name programs elsewhere by their whole path; it gets the events as NDJSON on stdin',
    )
    .option('--max-sessions <number>', 'sessions at the same time', positiveInteger, 4)
    .option('--tag <name>', 'a tag, for `session run --env tag:NAME`; may be repeated', collect, [])
    .option('--env-pass <name...>', 'pass this variable on, though it looks secret')
    .option('--interactive', "keep the command's stdin open for later messages")
    .addOption(
      new Option('--worktrees <which>', "which worktrees of a session's sources stay after it")
        .choices(['changed', 'keep', 'remove'])
        .default('changed'),
    )
    .addOption(
      new Option(
        '--changes <what>',
        "what a session's log is told of its changes, for `session diff` elsewhere",
      )
        .choices(['patch', 'files', 'none'])
        .default('patch'),
    )
    .option('--on-end <command>', 'run this after each session, in its directory; a minute at most');
}

/** The words that say the same on a command line. */
export function runWords(options: BridgeRunOptions & { readonly exec: string }): readonly string[] {
  const {
    dir,
    name,
    env,
    exec,
    maxSessions,
    tag,
    envPass = [],
    interactive = false,
    worktrees,
    changes,
    onEnd,
  } = options;
  return [
    ...['--dir', dir],
    ...(name === undefined ? [] : ['--name', name]),
    ...(env === undefined ? [] : ['--env', env]),
    ...['--exec', exec],
    ...['--max-sessions', String(maxSessions)],
    ...tag.flatMap((each) => ['--tag', each]),
    ...envPass.flatMap((each) => ['--env-pass', each]),
    ...(interactive ? ['--interactive'] : []),
    ...['--worktrees', worktrees],
    ...['--changes', changes],
    ...(onEnd === undefined ? [] : ['--on-end', onEnd]),
  ];
}

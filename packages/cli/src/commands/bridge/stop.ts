import { resolve } from 'node:path';
import type { LocalBridge } from '@sallyport/bridge';
import { sleep } from '@sallyport/core';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { meantBy } from '../meant.ts';
import { bridgesHere, ofDirectory, severalBridges } from './local.ts';

/** Longer than a bridge gives its sessions to end. */
const patienceMs = 30_000;
const lookMs = 100;

export interface BridgeStopOptions {
  readonly dir: string;
}

/** Ends a bridge that runs on this machine, as Ctrl-C in its terminal does, and waits until it has ended. */
export async function bridgeStop(
  context: Context,
  { dir }: BridgeStopOptions,
  given?: string,
): Promise<Output> {
  const { clock, interrupt, terminal } = context;
  const find = () =>
    given === undefined
      ? ofDirectory(bridgesHere(context), dir)
      : meantBy(given, bridgesHere(context), 'env', ({ environmentId: id = '', name }) => ({ id, name }));
  const running = find().filter(({ pid }) => pid !== undefined);
  const [bridge, ...others] = running;
  if (bridge?.pid === undefined) throw noneRuns(given, dir);
  if (others.length > 0)
    throw severalBridges(running, 'Name the environment: sallyport bridge stop ENVIRONMENT');
  const { pid, directory } = bridge;
  terminal.note(`Stopping the bridge in ${directory} (pid ${pid}); its sessions end gracefully.`);
  signal(bridge, pid);
  const until = clock.monotonic() + patienceMs;
  while (find().some((each) => each.pid === pid)) {
    if (clock.monotonic() >= until) throw stillThere(pid);
    await sleep(clock, lookMs, interrupt.asked);
  }
  const json = {
    environment_id: bridge.environmentId ?? null,
    directory,
    name: bridge.name,
    pid,
    stopped: true,
  };
  return { json, human: `The bridge in ${directory} has ended.` };
}

/** The process was found alive by more than its pid. */
function signal({ directory }: LocalBridge, pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ESRCH') return; // it has just ended
    throw new CommandError(
      'not_permitted',
      `The bridge in ${directory} (pid ${pid}) cannot be signalled (${code ?? String(cause)}).`,
      exitCodes.failed,
      'Run it as the account that started the bridge.',
      { cause },
    );
  }
}

function noneRuns(given: string | undefined, dir: string): CommandError {
  const which = given === undefined ? `in ${resolve(dir)}` : `for ${given} on this machine`;
  return new CommandError(
    'not_running',
    `No bridge runs ${which}.`,
    exitCodes.notFound,
    'See which do: sallyport bridge status',
  );
}

function stillThere(pid: number): CommandError {
  return new CommandError(
    'timed_out',
    `The bridge (pid ${pid}) has not ended after ${patienceMs / 1000} s.`,
    exitCodes.unreachable,
    'Run the command again: the second signal kills its sessions and ends it at once.',
  );
}

import { resolve } from 'node:path';
import { localBridges, type LocalBridge } from '@sallyport/bridge';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { table } from '../../io/table.ts';

/** What the person can do where the service does not know an environment, by the code of its refusal. */
export const aboutEnvironment = {
  not_found: 'See those of this machine: sallyport bridge status',
  environment_deleted: 'See those of this machine: sallyport bridge status',
} as const;

/** The bridges of this machine at the gateway that the command is about. */
export function bridgesHere({ settings }: Context): readonly LocalBridge[] {
  return localBridges(settings.stateDir).filter(({ baseUrl }) => baseUrl === settings.baseUrl);
}

/** Those of one directory; a relative one is that of the shell. */
export function ofDirectory(bridges: readonly LocalBridge[], directory: string): readonly LocalBridge[] {
  const wanted = resolve(directory);
  return bridges.filter((bridge) => bridge.directory === wanted);
}

/** A directory has several bridges where they were given names: the person chooses. */
export function severalBridges(bridges: readonly LocalBridge[], nextStep: string): CommandError {
  const rows = bridges.map((each) => [each.environmentId ?? '', each.name, each.pid?.toString() ?? '']);
  return new CommandError(
    'several_bridges',
    `The directory has several bridges:\n${table(['ENVIRONMENT', 'NAME', 'PID'], rows)}`,
    exitCodes.usage,
    nextStep,
  );
}

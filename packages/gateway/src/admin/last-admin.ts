import { ServiceError } from '@sallyport/core';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';

/** Adds to the refusal of an organization's last admin, the only conflict of such acts, how to make another one. */
export async function withAnotherAdmin<T>(
  flags: ConfigFlags & { readonly org?: string | undefined },
  act: Promise<T>,
): Promise<T> {
  try {
    return await act;
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.code !== 'conflict') throw cause;
    const { org = 'ORG' } = flags;
    const command = operatorCommand(['user', 'role', 'EMAIL', 'admin', '--org', org], flags);
    throw new ServiceError('conflict', `${cause.message} ${command} makes one.`, { cause });
  }
}

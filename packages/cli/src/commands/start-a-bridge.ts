import { contract } from '@sallyport/core/contract';
import { accessOf, lacks } from '../access.ts';
import type { Connection } from '../connect.ts';

/** `how` a bridge is started, or for who may start none, whom to ask. */
export async function startABridge(
  connection: Pick<Connection, 'client' | 'organizationId'>,
  how: string,
  signal: AbortSignal,
): Promise<string> {
  // Advice alone: where the service does not say who may, it says so to who tries.
  const access = await accessOf(connection, signal).catch(() => undefined);
  return lacks(access, contract.bridge.register.permission)
    ? `Ask a member or an admin of the organization to start a bridge: this account is a ${access.access_level} there.`
    : how;
}

import { ServiceError } from '@sallyport/core';
import type { CurrentUserAccess } from '@sallyport/core/contract';
import type { Connection } from './connect.ts';

/** What the account may do in the organization; `undefined`: the service does not say. */
export async function accessOf(
  { client, organizationId }: Pick<Connection, 'client' | 'organizationId'>,
  signal?: AbortSignal,
): Promise<CurrentUserAccess | undefined> {
  try {
    return await client.account.access({ params: { org_id: organizationId }, ...(signal && { signal }) });
  } catch (error) {
    if (error instanceof ServiceError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

/** Whether that permission is known to be missing. */
export function lacks(
  access: CurrentUserAccess | undefined,
  permission: string,
): access is CurrentUserAccess {
  return access !== undefined && !access.permissions.includes(permission);
}

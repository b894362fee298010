import { toTimestamp } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { Handlers } from '../http/handler.ts';

/** The trusted devices' rows. */
export function devicesHandlers({ trustedDevices }: AuthorizationServer): Handlers['devices'] {
  return {
    trust: ({ caller, body }) => trustedDevices.trust(caller, body.display_name),
    async list({ caller }) {
      const devices = await trustedDevices.list(caller);
      return {
        trusted_devices: devices.map(({ id, displayName, createdAt, lastUsedAt }) => ({
          id,
          display_name: displayName,
          created_at: toTimestamp(createdAt),
          last_used_at: lastUsedAt === null ? null : toTimestamp(lastUsedAt),
        })),
      };
    },
    async revoke({ caller, params }) {
      await trustedDevices.revoke(params.device_id, caller);
      return { id: params.device_id, deleted: true };
    },
  };
}

import { deviceRevoked, ServiceError, type Grants as GrantWatch } from '@sallyport/core';
import { nameForm } from '@sallyport/core/contract';
import type { Context } from './context.ts';
import { tellRevocation, type Grants } from './grants.ts';
import type { TrustedDevice } from './records.ts';
import { hashSecret, newSecret } from './secrets.ts';
import { invalidToken } from './signer.ts';

/** Whose a device is. */
export interface DeviceOwner {
  readonly accountId: string;
  readonly organizationId: string;
}

/** Machines that an account trusts to register environments; a watch is told when one is trusted no more. */
export interface TrustedDevices extends GrantWatch {
  /** Gives the device's token, shown once. Throws `quota_exceeded` where there are too many, `invalid_token` to whom is no member. */
  trust(owner: DeviceOwner, displayName: string): Promise<string>;
  /**
   * Throws `invalid_token` for an unknown device, `device_revoked` for one that is trusted no more, `forbidden` for another
   * account's or organization's.
   */
  check(token: string, owner: DeviceOwner): Promise<{ readonly deviceId: string }>;
  /** Whether it is trusted still, and its account a member. */
  stands(deviceId: string): Promise<boolean>;
  /** Newest first. */
  list(owner: DeviceOwner): Promise<readonly TrustedDevice[]>;
  /** Throws `not_found` where the owner has no such device. */
  revoke(deviceId: string, owner: DeviceOwner): Promise<void>;
}

/** Devices of one account in one organization: a list shows all of them. */
const maxDevices = 1000;
/** `lastUsedAt` is written at most so often. */
const touchMs = 60_000;

export function createTrustedDevices(context: Context, grants: Grants): TrustedDevices {
  const { store, clock, random, ids } = context;
  const { acts, reads } = store;
  return {
    async trust({ accountId, organizationId }, displayName) {
      const name = displayName.trim();
      if (name === '' || name.length > 128 || !nameForm.test(name))
        throw new ServiceError(
          'invalid_request',
          'display_name must be 1 to 128 characters that can be seen.',
          {
            issues: [{ path: 'display_name', message: 'must be 1 to 128 characters that can be seen' }],
          },
        );
      const token = newSecret(random, 'trustedDevice');
      const device = {
        id: ids.uuid(),
        hash: hashSecret(token),
        accountId,
        organizationId,
        displayName: name,
        createdAt: clock.now(),
        lastUsedAt: null,
        revokedAt: null,
      };
      const outcome = await acts.addTrustedDevice({ device, max: maxDevices });
      // As with an API key: the caller was let in a moment ago.
      if (outcome === 'no_member') throw invalidToken();
      if (outcome === 'too_many')
        throw new ServiceError(
          'quota_exceeded',
          `The account trusts ${maxDevices} devices, and may trust no more: revoke those that are not used.`,
          { details: { quota: 'trusted_devices', limit: maxDevices } },
        );
      return token;
    },
    async check(token, owner) {
      const device = await reads.trustedDevice({ hash: hashSecret(token) });
      if (!device) throw invalidToken();
      if (device.accountId !== owner.accountId || device.organizationId !== owner.organizationId)
        throw new ServiceError('forbidden', 'The trusted device is of another account or organization.', {
          issues: [
            { path: 'headers/x-trusted-device-token', message: 'is of another account or organization' },
          ],
        });
      if (device.revokedAt !== null) throw deviceRevoked();
      if (device.lastUsedAt === null || clock.now() - device.lastUsedAt >= touchMs)
        await acts.touchTrustedDevice({ deviceId: device.id, at: clock.now() });
      return { deviceId: device.id };
    },
    stands: (deviceId) => grants.stands(deviceId),
    get changes() {
      return grants.changes;
    },
    watch: (deviceId, listener, since) => grants.watch(deviceId, listener, since),
    unwatch: (deviceId, listener) => grants.unwatch(deviceId, listener),
    list: ({ accountId, organizationId }) =>
      reads.trustedDevices({ accountId, organizationId, limit: maxDevices }),
    async revoke(deviceId, { accountId, organizationId }) {
      const now = clock.now();
      if (!(await acts.revokeTrustedDevice({ deviceId, accountId, organizationId, now })))
        throw new ServiceError('not_found', 'There is no such device.');
      tellRevocation(context);
    },
  };
}

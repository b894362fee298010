import { ServiceError } from '@sallyport/core';
import { deviceGrantType, type DeviceAuthorizationResponse } from '@sallyport/core/contract';
import { noMember, requestedScope, type SignedIn } from './authorize.ts';
import { checkGrantType, unknownClient } from './clients.ts';
import { missing, sentParameters, type Context } from './context.ts';
import { newUserCode, readUserCode, showUserCode, unknownUserCode } from './device-grant.ts';
import { createFailures } from './failures.ts';
import { networkOf } from './network.ts';
import type { Client, DeviceGrant, DeviceGrantState } from './records.ts';
import { toServiceError } from './refusal.ts';
import { hashSecret, newSecret } from './secrets.ts';

/** A request that waits for a person, as the person is shown it. */
export interface DeviceRequest {
  readonly client: Client;
  /** With its dash. */
  readonly userCode: string;
  /** In neutral words. */
  readonly scope: string;
  /** Network address of the program that asked. */
  readonly address: string;
  readonly createdAt: number;
  /** Whether it was decided, and how; `used` after the program has fetched its tokens. */
  readonly state: DeviceGrantState;
}

/** The device flow but for its polls, which go to the token endpoint (RFC 8628). */
export interface DeviceFlow {
  /** The device authorization endpoint (RFC 8628 3.1). */
  start(body: Readonly<Record<string, unknown>>, address: string): Promise<DeviceAuthorizationResponse>;
  /** What a typed user code is of. Throws `not_found` for a wrong one, `rate_limited` after too many. */
  find(typed: string, signedIn: SignedIn, address: string): Promise<DeviceRequest>;
  /** Approves or denies; gives the request as it is then. Throws as `find` does, `conflict` where it was decided before, `forbidden` to whom is no member. */
  decide(
    typed: string,
    signedIn: SignedIn,
    address: string,
    decision: { readonly approve: boolean; readonly organizationId: string },
  ): Promise<DeviceRequest>;
}

export function createDeviceFlow(context: Context): DeviceFlow {
  const { store, clock, random, issuer, dialect, config, log } = context;
  const { acts, reads } = store;
  const windowMs = config.failures.windowSeconds * 1000;
  const bySession = createFailures(clock, config.failures.userCodes, windowMs);
  const byAddress = createFailures(clock, config.failures.userCodesPerAddress, windowMs);

  async function add(grant: Omit<DeviceGrant, 'userCode'>): Promise<string> {
    // A live code is drawn again about never; the bound is for a broken source of randomness.
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const userCode = newUserCode(random);
      const { maxPendingDeviceCodes: maxPending } = config;
      const added = await acts.addDeviceGrant({
        grant: { ...grant, userCode },
        maxPending,
        now: clock.now(),
      });
      if (added === 'added') return userCode;
      if (added === 'too_many')
        throw new ServiceError(
          'temporarily_unavailable',
          'Too many device codes are pending: use one of them.',
          {
            retryAfterMs: config.deviceIntervalSeconds * 1000,
          },
        );
    }
    throw new Error('No free user code was drawn.');
  }

  async function find(typed: string, { sessionId }: SignedIn, address: string): Promise<DeviceRequest> {
    const network = networkOf(address);
    const blockedMs = Math.max(bySession.blockedMs(sessionId) ?? 0, byAddress.blockedMs(network) ?? 0);
    if (blockedMs > 0)
      throw new ServiceError('rate_limited', 'There were too many wrong codes.', {
        retryAfterMs: blockedMs,
      });
    bySession.count(sessionId);
    byAddress.count(network);
    const grant = await reads.deviceGrant({ userCode: readUserCode(typed), now: clock.now() });
    const client = grant && (await reads.client({ clientId: grant.clientId }));
    if (!client) throw toServiceError(unknownUserCode);
    bySession.takeBack(sessionId);
    byAddress.takeBack(network);
    return {
      client,
      userCode: showUserCode(grant.userCode),
      scope: grant.scope,
      address: grant.address,
      createdAt: grant.createdAt,
      state: grant.state,
    };
  }

  return {
    async start(body, address) {
      const { client_id: clientId, scope } = sentParameters(body);
      if (clientId === undefined) throw missing('client_id');
      const client = await reads.client({ clientId });
      // The specification lists no 401 here, as it does at the token endpoint.
      if (!client) throw unknownClient({ status: 400 });
      checkGrantType(client, deviceGrantType);
      const deviceCode = newSecret(random, 'deviceCode');
      const now = clock.now();
      const userCode = await add({
        hash: hashSecret(deviceCode),
        clientId,
        scope: requestedScope({ dialect }, client, scope),
        address,
        network: networkOf(address),
        createdAt: now,
        expiresAt: now + config.deviceCodeSeconds * 1000,
        slowDowns: 0,
        lastPollAt: null,
        state: 'pending',
        accountId: null,
        organizationId: null,
      });
      const uri = `${issuer}/device`;
      return {
        device_code: deviceCode,
        user_code: showUserCode(userCode),
        verification_uri: uri,
        verification_uri_complete: `${uri}?user_code=${showUserCode(userCode)}`,
        expires_in: config.deviceCodeSeconds,
        interval: config.deviceIntervalSeconds,
      };
    },

    find,

    async decide(typed, signedIn, address, { approve, organizationId }) {
      const request = await find(typed, signedIn, address);
      const { accountId } = signedIn;
      const memberships = await reads.memberships({ accountId });
      if (approve && !memberships.some(({ organization }) => organization.id === organizationId))
        throw noMember();
      const verdict = await acts.decideDeviceGrant({
        userCode: readUserCode(typed),
        approve,
        accountId,
        organizationId,
        now: clock.now(),
      });
      if (verdict.outcome === 'refused') throw toServiceError(verdict);
      const { clientId, address: from, state } = verdict.grant;
      log.info({ clientId, accountId, organizationId, approve, from }, 'a device request was decided');
      return { ...request, state };
    },
  };
}

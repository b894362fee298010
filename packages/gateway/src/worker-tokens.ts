import type { WorkerTokens } from '@sallyport/bridge/server';
import { ServiceError } from '@sallyport/core';
import type { Signer } from '@sallyport/oauth/server';

const kind = { type: 'worker+jwt', audience: 'ingress' };
/** The authorization server must publish its keys for so long after the last worker token: `otherTokenSeconds`. */
export const workerTokenSeconds = 3600;

/** The bridge's worker JWTs, signed with the authorization server's keys, of a kind that no access token passes as. */
export function createWorkerTokens(signer: Signer): WorkerTokens {
  return {
    mint({ sessionId, environmentId, workerId, epoch, grantId, deviceId }) {
      const claims = {
        sub: sessionId,
        env: environmentId,
        wid: workerId,
        epoch,
        gid: grantId,
        did: deviceId,
      };
      return signer.sign(claims, { ...kind, lifetimeSeconds: workerTokenSeconds });
    },
    async verify(token) {
      const { sub, env, wid, epoch, gid, did, exp } = await signer.verify(token, kind);
      if (
        typeof sub !== 'string' ||
        typeof env !== 'string' ||
        typeof wid !== 'string' ||
        typeof gid !== 'string' ||
        typeof epoch !== 'number' ||
        (did !== undefined && typeof did !== 'string')
      )
        throw new ServiceError('invalid_token', 'The worker token is not valid.');
      return {
        sessionId: sub,
        environmentId: env,
        workerId: wid,
        epoch,
        grantId: gid,
        deviceId: did,
        expiresAt: exp * 1000,
      };
    },
  };
}

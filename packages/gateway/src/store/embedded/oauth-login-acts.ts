import type { DatabaseSync } from 'node:sqlite';
import {
  judgeCode,
  judgeDecision,
  judgePoll,
  judgeRefresh,
  type Code,
  type DeviceGrant,
  type Family,
  type OAuthActs,
} from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { codeColumns, deviceGrantColumns, familyColumns, toFamily, type FamilyRow } from './oauth-rows.ts';
import { select } from './query.ts';

/** Codes, token families and device grants: what a login begins with, and goes on by. */
export function loginActs(
  db: DatabaseSync,
): Sync<
  Pick<
    OAuthActs,
    'addCode' | 'consumeCode' | 'rotateRefresh' | 'revokeFamily' | 'revokeAccessToken' | 'pollDeviceGrant'
  >
> {
  const insertCode = db.prepare(
    `INSERT INTO oauth_code (hash, client_id, account_id, organization_id, session_id, redirect_uri, scope, challenge,
       expires_at, mismatches) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const codeByHash = select<Code>(db, `SELECT ${codeColumns} FROM oauth_code WHERE hash = ?`);
  const updateCode = db.prepare(
    'UPDATE oauth_code SET mismatches = ?, used_at = ?, family_id = ? WHERE hash = ?',
  );
  const giver = db.prepare(
    `SELECT 1 FROM account_session AS s JOIN membership AS m ON m.account_id = s.account_id
     WHERE s.id = ? AND m.organization_id = ?`,
  );
  const member = db.prepare('SELECT 1 FROM membership WHERE account_id = ? AND organization_id = ?');
  const familyById = select<FamilyRow>(
    db,
    `SELECT ${familyColumns} FROM oauth_family AS family WHERE id = ?`,
  );
  const insertFamily = db.prepare(
    `INSERT INTO oauth_family (id, client_id, account_id, organization_id, scope, address, generation, rotations,
       created_at, idle_expires_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateFamily = db.prepare(
    'UPDATE oauth_family SET generation = ?, rotations = ?, idle_expires_at = ?, revoked_at = ? WHERE id = ?',
  );
  const revokeFamily = db.prepare(
    'UPDATE oauth_family SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  );
  const insertRevoked = db.prepare(
    'INSERT INTO oauth_revoked_token (jti, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const grants = deviceGrants(db);

  function isMember({
    accountId,
    organizationId,
  }: Pick<DeviceGrant, 'accountId' | 'organizationId'>): boolean {
    return member.get(accountId, organizationId) !== undefined;
  }
  function hasLeft(grant: DeviceGrant): boolean {
    return grant.state === 'approved' && !isMember(grant);
  }
  function familyOf(id: string | null): Family | undefined {
    const row = familyById.get(id);
    return row && toFamily(row);
  }
  function addFamily(one: Family): void {
    const { id, clientId, accountId, organizationId, scope, address, generation, createdAt } = one;
    const grant = [clientId, accountId, organizationId, scope, address] as const;
    const rotations = JSON.stringify(one.rotations);
    const times = [createdAt, one.idleExpiresAt, one.expiresAt] as const;
    insertFamily.run(id, ...grant, generation, rotations, ...times);
  }
  function saveFamily({ id, generation, rotations, idleExpiresAt, revokedAt }: Family): void {
    updateFamily.run(generation, JSON.stringify(rotations), idleExpiresAt, revokedAt, id);
  }
  function saveCode({ hash, mismatches, usedAt, familyId }: Code): void {
    updateCode.run(mismatches, usedAt, familyId, hash);
  }

  return {
    addCode({ code: one }) {
      const grant = [
        one.clientId,
        one.accountId,
        one.organizationId,
        one.sessionId,
        one.redirectUri,
      ] as const;
      insertCode.run(one.hash, ...grant, one.scope, one.challenge, one.expiresAt, one.mismatches);
    },
    consumeCode({ hash, presented, now, terms }) {
      const code = codeByHash.get(hash);
      const stored = code && {
        code,
        family: familyOf(code.familyId),
        isGiverPresent: giver.get(code.sessionId, code.organizationId) !== undefined,
      };
      const verdict = judgeCode(stored, presented, now, terms);
      if (verdict.outcome === 'issued') {
        addFamily(verdict.family);
        saveCode(verdict.code);
      }
      if (verdict.outcome === 'refused') {
        if (verdict.save?.code) saveCode(verdict.save.code);
        if (verdict.save?.family) saveFamily(verdict.save.family);
      }
      return verdict;
    },
    rotateRefresh({ familyId, presented, now, terms }) {
      const family = familyOf(familyId);
      const verdict = judgeRefresh(family && isMember(family) ? family : undefined, presented, now, terms);
      if (verdict.outcome === 'rotated' || verdict.outcome === 'revoked') saveFamily(verdict.family);
      return verdict;
    },
    revokeFamily({ familyId, of, now }) {
      const login = familyOf(familyId);
      const isTheirs = Object.entries(of).every(([name, value]) => login?.[name as keyof Family] === value);
      if (!login || !isTheirs) return undefined;
      return { login, isNew: revokeFamily.run(now, familyId).changes > 0 };
    },
    revokeAccessToken({ jti, expiresAt }) {
      insertRevoked.run(jti, expiresAt);
    },
    pollDeviceGrant({ hash, presented, now, terms }) {
      const grant = grants.byHash(hash);
      const verdict = judgePoll(grant && hasLeft(grant) ? undefined : grant, presented, now, terms);
      if (verdict.outcome === 'issued') addFamily(verdict.family);
      if (verdict.grant) grants.save(verdict.grant);
      return verdict;
    },
  };
}

/** Device grants until they are polled. */
export function deviceActs(db: DatabaseSync): Sync<Pick<OAuthActs, 'addDeviceGrant' | 'decideDeviceGrant'>> {
  const pending = db.prepare(
    `SELECT count(*) AS count FROM oauth_device_grant
     WHERE client_id = ? AND network = ? AND state = 'pending' AND expires_at > ?`,
  );
  const insertGrant = db.prepare(
    `INSERT INTO oauth_device_grant (hash, user_code, client_id, scope, address, network, created_at, expires_at,
       slow_downs, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const grants = deviceGrants(db);

  return {
    addDeviceGrant({ grant: one, maxPending, now }) {
      if (Number(pending.get(one.clientId, one.network, now)?.['count']) >= maxPending) return 'too_many';
      if (grants.byUserCode(one.userCode, now)) return 'taken';
      const { hash, userCode, clientId, scope, address, network, createdAt, expiresAt } = one;
      const origin = [clientId, scope, address, network] as const;
      insertGrant.run(hash, userCode, ...origin, createdAt, expiresAt, one.slowDowns, one.state);
      return 'added';
    },
    decideDeviceGrant({ userCode, now, ...decision }) {
      const verdict = judgeDecision(grants.byUserCode(userCode, now), decision, now);
      if (verdict.outcome === 'decided') grants.save(verdict.grant);
      return verdict;
    },
  };
}

function deviceGrants(db: DatabaseSync) {
  const byHash = select<DeviceGrant>(
    db,
    `SELECT ${deviceGrantColumns} FROM oauth_device_grant WHERE hash = ?`,
  );
  const byUserCode = select<DeviceGrant>(
    db,
    `SELECT ${deviceGrantColumns} FROM oauth_device_grant WHERE user_code = ? AND expires_at > ?`,
  );
  const update = db.prepare(
    `UPDATE oauth_device_grant SET slow_downs = ?, last_poll_at = ?, state = ?, account_id = ?, organization_id = ?
     WHERE hash = ?`,
  );
  return {
    byHash: (hash: string) => byHash.get(hash),
    byUserCode: (userCode: string, now: number) => byUserCode.get(userCode, now),
    save({ slowDowns, lastPollAt, state, accountId, organizationId, hash }: DeviceGrant) {
      update.run(slowDowns, lastPollAt, state, accountId, organizationId, hash);
    },
  };
}

import type { NewAuditEntry } from './audit-entry.ts';
import type { OAuthActs } from './acts.ts';

type Draft = Pick<NewAuditEntry, 'action'> & Partial<NewAuditEntry>;

/** What an act's entries say, by what it was given and what it came to; nothing where it did nothing. */
type Trail = {
  readonly [Act in keyof OAuthActs]:
    | ((
        argument: Parameters<OAuthActs[Act]>[0],
        answer: Awaited<ReturnType<OAuthActs[Act]>>,
      ) => Draft | readonly Draft[] | undefined)
    /** Nothing of it concerns an audit. */
    | null;
};

/** Which acts are audited, and how: a new act has to decide. */
const trail: Trail = {
  install: null,
  keepSecret: null,
  addFirstKey: null,
  addCode: null,
  addDeviceGrant: null,
  touchTrustedDevice: null,
  touchApiKey: null,
  sweep: null,

  recordAudit: ({ entry }) => entry,

  rotateKeys: ({ next }, isRotated) =>
    isRotated ? { action: 'signing_key.rotate', by: 'unknown', subject: next.kid } : undefined,
  addClient: ({ client: { id, name } }) => ({
    action: 'client.add',
    by: 'unknown',
    subject: id,
    details: { name },
  }),
  removeClient: ({ clientId }, outcome) =>
    outcome === 'done' ? { action: 'client.remove', by: 'unknown', subject: clientId } : undefined,

  addOrganization: ({ organization: { id, name } }) => ({
    action: 'organization.add',
    by: 'unknown',
    organizationId: id,
    details: { name },
  }),
  changeOrganization: ({ organizationId, changes: { type, rateLimitTier, capabilities } }, changed) =>
    changed && {
      action: 'organization.change',
      by: 'unknown',
      organizationId,
      details: { organization_type: type, rate_limit_tier: rateLimitTier, capabilities },
    },
  closeOrganization: ({ organizationId }, outcome) =>
    outcome === 'done' ? { action: 'organization.close', by: 'unknown', organizationId } : undefined,
  eraseOrganization: ({ organizationId }, isErased) =>
    isErased ? { action: 'organization.erase', by: 'unknown', organizationId } : undefined,
  // Not the value: a setting may hold what only members' programs are to know.
  setSetting: ({ organizationId, name }, outcome) =>
    outcome === 'set' ? { action: 'setting.set', by: 'unknown', organizationId, subject: name } : undefined,
  unsetSetting: ({ organizationId, name }, isUnset) =>
    isUnset ? { action: 'setting.unset', by: 'unknown', organizationId, subject: name } : undefined,

  addAccount: ({ account: { id: accountId }, organizationId, role }, isAdded) =>
    isAdded
      ? { action: 'account.add', by: 'unknown', accountId, organizationId, details: { role } }
      : undefined,
  addMember: ({ organizationId, role }, { outcome, account: { id: accountId } }) =>
    outcome === 'member'
      ? undefined
      : {
          action: outcome === 'added' ? 'account.add' : 'membership.set',
          by: 'unknown',
          accountId,
          organizationId,
          details: { role },
        },
  setRole: ({ accountId, organizationId, role }, outcome) =>
    outcome === 'done'
      ? { action: 'membership.set', by: 'unknown', accountId, organizationId, details: { role } }
      : undefined,
  endMembership: ({ accountId, organizationId }, outcome) =>
    outcome === 'done' ? { action: 'membership.end', by: 'unknown', accountId, organizationId } : undefined,
  removeAccount: ({ accountId }, { outcome, organizationIds }) =>
    outcome === 'done'
      ? { action: 'account.remove', by: 'unknown', accountId, seenBy: organizationIds }
      : undefined,
  unlockAccount: ({ accountId }, unlocked) =>
    unlocked && { action: 'account.unlock', by: 'unknown', accountId },
  closeAccount: ({ accountId }, { outcome, organizationIds }) =>
    outcome === 'done'
      ? { action: 'account.close', by: 'unknown', accountId, seenBy: organizationIds }
      : undefined,
  eraseAccount: ({ accountId }, isErased) =>
    isErased ? { action: 'account.erase', by: 'unknown', accountId } : undefined,

  addSetupToken: ({ accountId }) => ({ action: 'setup_link.make', by: 'unknown', accountId }),
  redeemSetupToken: ({ session: { id } }, redeemed) =>
    redeemed && [
      { action: 'password.set', accountId: redeemed.accountId },
      { action: 'sign_in', accountId: redeemed.accountId, subject: id },
    ],
  setPassword: ({ accountId, session }, isSet) => {
    if (!isSet) return undefined;
    if (!session) return { action: 'password.set', by: 'unknown', accountId };
    return [
      { action: 'password.set', accountId },
      { action: 'sign_in', accountId, subject: session.id },
    ];
  },
  addSession: ({ session: { id, accountId } }, isAdded) =>
    isAdded ? { action: 'sign_in', accountId, subject: id } : undefined,
  touchSession: null,
  endSession: ({ sessionId, accountId }, isEnded) =>
    isEnded ? { action: 'sign_out', accountId, subject: sessionId } : undefined,
  endOtherSessions: ({ accountId }, ended) =>
    ended > 0 ? { action: 'sign_out', accountId, details: { sessions: ended } } : undefined,
  endMemberSession: ({ sessionId, organizationId }, ended) =>
    ended && { action: 'sign_out', accountId: ended.accountId, organizationId, subject: sessionId },

  consumeCode: (_, verdict) => {
    if (verdict.outcome === 'issued') return begun(verdict.family, 'authorization_code');
    if (verdict.outcome !== 'refused') return undefined;
    return verdict.save?.family && revoked(verdict.save.family, 'code_replayed');
  },
  rotateRefresh: (_, verdict) =>
    verdict.outcome === 'revoked' ? revoked(verdict.family, 'refresh_token_replayed') : undefined,
  pollDeviceGrant: (_, verdict) =>
    verdict.outcome === 'issued' ? begun(verdict.family, 'device_code') : undefined,
  decideDeviceGrant: ({ approve, accountId, organizationId }, verdict) =>
    verdict.outcome === 'decided'
      ? {
          action: approve ? 'device_code.approve' : 'device_code.deny',
          accountId,
          organizationId: approve ? organizationId : null,
          details: { client_id: verdict.grant.clientId, asked_from: verdict.grant.address },
        }
      : undefined,
  revokeFamily: (_, answer) => (answer?.isNew ? revoked(answer.login, 'revoked', 'account') : undefined),
  revokeAccessToken: ({ jti, accountId, organizationId }) => ({
    action: 'access_token.revoke',
    accountId,
    organizationId,
    subject: jti,
  }),

  addTrustedDevice: ({ device: { id, accountId, organizationId, displayName: name } }, outcome) =>
    outcome === 'added'
      ? { action: 'trusted_device.add', accountId, organizationId, subject: id, details: { name } }
      : undefined,
  revokeTrustedDevice: ({ deviceId: subject, organizationId }, device) =>
    device?.isNew
      ? { action: 'trusted_device.revoke', accountId: device.accountId, organizationId, subject }
      : undefined,
  addApiKey: ({ key: { id, accountId, organizationId, name } }, outcome) =>
    outcome === 'added'
      ? { action: 'api_key.add', accountId, organizationId, subject: id, details: { name } }
      : undefined,
  revokeApiKey: ({ keyId: subject, organizationId }, key) =>
    key?.isNew ? { action: 'api_key.revoke', accountId: key.accountId, organizationId, subject } : undefined,
};

interface Login {
  readonly id: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly organizationId: string;
}

function begun({ id, clientId, accountId, organizationId }: Login, grant: string): Draft {
  return {
    action: 'login.begin',
    accountId,
    organizationId,
    subject: id,
    details: { client_id: clientId, grant },
  };
}

/** Of a token that came twice nobody knows which of the two had stolen it. */
function revoked(login: Login, reason: string, by: 'account' | 'unknown' = 'unknown'): Draft {
  const { id, clientId, accountId, organizationId } = login;
  return {
    action: 'login.revoke',
    by,
    accountId,
    organizationId,
    subject: id,
    details: { client_id: clientId, reason },
  };
}

/** The entries of an act, for the transaction that it was done in. */
export function auditEntriesOf(act: string, argument: unknown, answer: unknown): readonly NewAuditEntry[] {
  const said = (trail as Readonly<Record<string, AnyRule | null>>)[act]?.(argument, answer);
  if (said === undefined) return [];
  const drafts = 'action' in said ? [said] : said;
  return drafts.map((draft) => ({
    outcome: 'done',
    by: 'account',
    accountId: null,
    organizationId: null,
    subject: null,
    details: {},
    ...draft,
  }));
}

type AnyRule = (argument: unknown, answer: unknown) => Draft | readonly Draft[] | undefined;

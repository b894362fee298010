// The door for storage adapters: the ports, their records, and the judgements that an act calls inside its transaction.
// It is apart from the engine's, so that a writer thread loads no more than that.
export type { AdminActs, AdminReads, NewestFirst, OfAccount, Owned, Removed } from './admin-ports.ts';
export type { AuditFilter } from './admin-ports.ts';
export type { Actor, AuditEntry, AuditStamp, CallOrigin, NewAuditEntry } from './audit-entry.ts';
export { auditEntriesOf } from './audit-trail.ts';
export type { Hashed, NewAccount, OAuthActs, OrganizationChanges } from './acts.ts';
export type { OAuthStore } from './ports.ts';
export type { OAuthReads } from './reads.ts';
export type {
  Account,
  After,
  ApiKey,
  Client,
  Code,
  DeviceGrant,
  DeviceGrantState,
  Family,
  GrantType,
  Membership,
  Organization,
  OrganizationType,
  Role,
  Session,
  SigningKey,
  TrustedDevice,
} from './records.ts';
export type { Refused } from './refusal.ts';
export { judgeRefresh, type PresentedRefresh, type RefreshTerms, type RefreshVerdict } from './family.ts';
export { judgeCode, type CodeTerms, type CodeVerdict, type PresentedCode, type StoredCode } from './code.ts';
export {
  judgeDecision,
  judgePoll,
  type DecisionVerdict,
  type DeviceTerms,
  type PollVerdict,
  type PresentedDeviceCode,
} from './device-grant.ts';

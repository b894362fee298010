export {
  createAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from './authorization-server.ts';
export { defaultOAuthConfig, type OAuthConfig } from './config.ts';
export { firstPartyClient, type Clients } from './clients.ts';
export type { AccessTokens, Grant } from './access-token.ts';
export type { Accounts, ShownAccount } from './accounts.ts';
export type { Authorization, AuthorizationRequest, BrowserRequest, SignedIn } from './authorize.ts';
export type { DeviceFlow, DeviceRequest } from './device-flow.ts';
export type { Metadata } from './metadata.ts';
export type { Organizations } from './organizations.ts';
export type { Profiles } from './profile.ts';
export { isSessionKey, type IssuedSession, type Sessions } from './sessions.ts';
export { invalidToken, type Signer, type TokenKind } from './signer.ts';
export type { DeviceOwner, TrustedDevices } from './trusted-devices.ts';
export { permissionsOf } from './roles.ts';
export { scopeList, scopeToWire } from './scopes.ts';
export { secretPrefixes } from './secrets.ts';

// For storage adapters: the ports, their records, and the judgements that an act calls inside its transaction.
export type { Hashed, NewAccount, OAuthActs, OAuthReads, OAuthStore } from './ports.ts';
export type {
  Account,
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

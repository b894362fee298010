export {
  createAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from './authorization-server.ts';
export { defaultOAuthConfig, type OAuthConfig } from './config.ts';
export type { OAuthAccountData } from './account-data.ts';
export type { OAuthOrganizationData } from './organization-data.ts';
export { shownAuditEntry, type Audit, type AuditQuery } from './audit.ts';
export type { Actor, AuditEntry, CallOrigin } from './audit-entry.ts';
export type { Oversight, PageQuery } from './oversight.ts';
export type { Clients } from './clients.ts';
export type { AccessTokens, Grant } from './access-token.ts';
export type { Accounts, ShownAccount } from './accounts.ts';
export { isApiKey, type ApiKeyOwner, type ApiKeys } from './api-keys.ts';
export type { Authorization, AuthorizationRequest, BrowserRequest, SignedIn } from './authorize.ts';
export type { DeviceFlow, DeviceRequest } from './device-flow.ts';
export type { Login, Logins } from './logins.ts';
export type { ManagedSettings } from './managed-settings.ts';
export type { Member, Members, OrganizationMember } from './members.ts';
export { networkOf } from './network.ts';
export type { Organizations } from './organizations.ts';
export type { Profiles } from './profile.ts';
export { isSessionKey, type IssuedSession, type Sessions } from './sessions.ts';
export type { Grants } from './grants.ts';
export { invalidToken, type Signer, type TokenKind } from './signer.ts';
export type { DeviceOwner, TrustedDevices } from './trusted-devices.ts';
export { permissionsOf } from './roles.ts';
export { scopeList } from './scopes.ts';
export { scopeFromWire, scopeToWire } from './wire-scopes.ts';
export { secretPrefixes } from './secrets.ts';
export type { OrganizationChanges } from './acts.ts';
export type { OAuthStore } from './ports.ts';
export type {
  ApiKey,
  Client,
  LoginOwner,
  Membership,
  Organization,
  OrganizationType,
  Role,
  Session,
  SessionOrigin,
  SetupLink,
  TrustedDevice,
} from './records.ts';

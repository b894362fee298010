import { account } from './account.ts';
import { admin } from './admin/index.ts';
import { bridge } from './bridge.ts';
import { devices } from './devices.ts';
import type { Endpoint } from './endpoint.ts';
import { environments } from './environments.ts';
import { feedback } from './feedback.ts';
import { oauth } from './oauth.ts';
import { sessions } from './sessions.ts';
import { telemetry } from './telemetry.ts';
import { worker } from './worker.ts';

/** Every endpoint of the service, by area: what client, gateway, OpenAPI document and docs are made from. */
export const contract = {
  oauth,
  devices,
  bridge,
  sessions,
  worker,
  environments,
  telemetry,
  feedback,
  account,
  admin,
} as const;
export type Contract = typeof contract;

/** A row of the table. */
export type Row = {
  [A in keyof Contract]: Contract[A][keyof Contract[A]];
}[keyof Contract];

/** The rows as a list, in the table's order. */
export const endpoints: readonly Endpoint[] = Object.values<Readonly<Record<string, Endpoint>>>(
  contract,
).flatMap((rows) => Object.values(rows));

export {
  defaultLimits,
  isOptional,
  mediaTypes,
  type Area,
  type Credential,
  type Encoding,
  type Endpoint,
  type EndpointTransport,
  type InputFor,
  type Limits,
  type RequestOf,
  type ResponseOf,
} from './endpoint.ts';
export { headerNames, secretHeaders } from './headers.ts';
export { isRateLimited, refusalStatuses } from './statuses.ts';
export { families, familyTimeoutMs, type Family } from './families.ts';
export { Bootstrap, nobodyId, type CurrentUserAccess, type ManagedSettings } from '../schemas/account.ts';
export { deviceGrantType, firstPartyClient, gatewayClient } from './oauth.ts';
export { scopes } from '../scopes.ts';
export { workerVersion } from './worker.ts';
export { batchLimits } from './telemetry.ts';
export {
  type AuthorizationServerMetadata,
  type AuthorizeRequest,
  type DeviceAuthorizationResponse,
  type IntrospectionResponse,
  type Profile,
  type Roles,
  type TokenRequest,
  type TokenResponse,
} from '../schemas/oauth.ts';
export {
  BridgeHint,
  finalWorkStates,
  WorkState,
  type EnvironmentStatus,
  type OrganizationEnvironment,
  type RegisterBridgeRequest,
} from '../schemas/bridge.ts';
export {
  type CreateEnvironmentRequest,
  type ManagedEnvironment,
  type UpdateEnvironmentRequest,
} from '../schemas/environments.ts';
export {
  NewEvent,
  SessionEvent,
  SessionStatus,
  finalStatuses,
  type CreateSessionRequest,
  type Session,
} from '../schemas/sessions.ts';
export { FeedbackForm } from '../schemas/feedback.ts';
export {
  EventBatch,
  LogRecord,
  type AnyValue,
  type TelemetryRecord,
  type TelemetryStats,
} from '../schemas/telemetry.ts';
export { auditActions, emailForm, type AuditAction, type AuditEntry } from '../schemas/admin.ts';
export { JsonObject } from '../schemas/common.ts';
export { nameForm } from '../schemas/name.ts';

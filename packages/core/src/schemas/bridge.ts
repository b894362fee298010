import { z } from 'zod';
import { integerParam, JsonObject, ShownAccount, Timestamp, Uuid } from './common.ts';

export const EnvironmentParams = z.object({ env_id: z.string() });
export const WorkParams = z.object({ env_id: z.string(), work_id: z.string() });

/** Tells the workers of one account apart; without it, the token's grant does. */
export const WorkerHeaders = z.object({ 'vendor-worker-id': z.exactOptional(z.string().min(1).max(128)) });

export const RegisterBridgeHeaders = z.object({
  'x-environment-runner-version': z.string().min(1),
  'vendor-worker-id': z.string().min(1).max(128),
  'x-trusted-device-token': z.string().min(1),
});

export const RegisterBridgeRequest = z.looseObject({
  machine_name: z.string().min(1).max(256),
  directory: z.string().min(1).max(4096),
  metadata: z.exactOptional(JsonObject),
  environment_id: z.exactOptional(z.string()),
});
export type RegisterBridgeRequest = z.infer<typeof RegisterBridgeRequest>;

export const RegisterBridgeResponse = z.looseObject({
  environment_id: z.string(),
  bridge_ws_url: z.exactOptional(z.string().describe('absolute address of the persistent bridge WebSocket')),
});

export const PollQuery = z.object({
  block_ms: z.exactOptional(integerParam(0, 60_000)).describe('holds the request this long until work comes'),
  types: z.exactOptional(z.string()).describe('comma-separated kinds of work to grant; default `session`'),
  capacity: z.exactOptional(integerParam(0, 1_000_000)).describe('0: presence only, nothing is granted'),
});

/** `null`: nothing waits. */
export const PollResponse = z.nullable(
  z.looseObject({
    id: z.string(),
    data: z.looseObject({ type: z.string(), id: z.exactOptional(z.string()) }),
  }),
);

export const WorkState = z.enum([
  'queued',
  'delivered',
  'active',
  'stopping',
  'stopped',
  'done',
  'failed',
  'lost',
  'dead',
]);
export type WorkState = z.infer<typeof WorkState>;

/** The states that a work item keeps. */
export const finalWorkStates: readonly WorkState[] = ['stopped', 'done', 'failed', 'dead'];

export const WorkResponse = z.looseObject({ id: z.string(), state: WorkState });

export const StopRequest = z.looseObject({
  force: z.boolean().default(false),
  reason: z
    .exactOptional(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/))
    .describe('why, as a code; it is told with the end of the session'),
});

export const ReconnectHeaders = z.object({
  'x-environment-runner-version': z.string().min(1),
  'vendor-worker-id': z.exactOptional(z.string().min(1).max(128)),
  'x-worker-token': z.exactOptional(z.string().min(1)),
});

export const ReconnectRequest = z.looseObject({ session_id: z.string().min(1) });

export const ReconnectResponse = z.looseObject({
  environment_id: z.string(),
  session_id: z.string(),
  state: WorkState,
});

/** A frame of the persistent bridge WebSocket. Nothing is granted by one: the bridge polls, as it would without. */
export const BridgeHint = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('work.available'), work_id: z.string() }),
  z.looseObject({ type: z.literal('work.stop'), work_id: z.string(), force: z.boolean() }),
  z.looseObject({ type: z.literal('draining'), reconnect_in_ms: z.number().int() }),
]);
export type BridgeHint = z.infer<typeof BridgeHint>;

export const OrganizationParams = z.object({ org_uuid: Uuid });

export const OrganizationEnvironmentsQuery = z.object({
  limit: z.exactOptional(integerParam(1, Number.MAX_SAFE_INTEGER)),
  offset: z.exactOptional(z.string()),
  included_worker_types: z.string().default('cowork'),
});

export const EnvironmentStatus = z.enum(['online', 'disconnected', 'offline']);
export type EnvironmentStatus = z.infer<typeof EnvironmentStatus>;

export const DisconnectResponse = z.looseObject({ environment_id: z.string(), status: EnvironmentStatus });

export const OrganizationEnvironment = z.looseObject({
  environment_id: z.string(),
  machine_name: z.string(),
  directory: z.string(),
  metadata: JsonObject,
  worker_type: z.string(),
  status: EnvironmentStatus,
  last_seen_at: Timestamp,
  active_sessions: z.number().int(),
  account: z.exactOptional(ShownAccount).describe('an addition of ours: whose bridge it is'),
});
export type OrganizationEnvironment = z.infer<typeof OrganizationEnvironment>;

export const OrganizationEnvironments = z.looseObject({
  environments: z.array(OrganizationEnvironment),
  has_more: z.boolean(),
});

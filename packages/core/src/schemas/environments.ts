import { z } from 'zod';
import { IdempotencyKey, integerParam, JsonObject, ShownAccount, Timestamp } from './common.ts';

/** A remote compute environment; the bridge's share its id space. */
export const ManagedEnvironment = z.looseObject({
  id: z.string().describe('prefix `env_`'),
  machine_name: z.string(),
  directory: z.string(),
  metadata: JsonObject,
  account: z.exactOptional(ShownAccount).describe('an addition of ours: who created it'),
  created_at: z.exactOptional(Timestamp),
  updated_at: z.exactOptional(Timestamp),
  archived_at: z.exactOptional(z.nullable(Timestamp)),
});
export type ManagedEnvironment = z.infer<typeof ManagedEnvironment>;

const MachineName = z.string().min(1).max(256);
const Directory = z.string().min(1).max(4096);

export const CreateEnvironmentHeaders = z.object({
  'idempotency-key': IdempotencyKey,
});

export const CreateEnvironmentRequest = z.looseObject({
  machine_name: MachineName,
  directory: Directory,
  metadata: JsonObject.default({}),
});
export type CreateEnvironmentRequest = z.output<typeof CreateEnvironmentRequest>;

export const UpdateEnvironmentRequest = z.looseObject({
  machine_name: z.exactOptional(MachineName),
  directory: z.exactOptional(Directory),
  metadata: z.exactOptional(JsonObject).describe('merged into what is there; a `null` removes its key'),
});
export type UpdateEnvironmentRequest = z.infer<typeof UpdateEnvironmentRequest>;

export const EnvironmentsQuery = z.object({
  limit: z.exactOptional(integerParam(1, Number.MAX_SAFE_INTEGER)),
  offset: z.exactOptional(z.string()).describe('opaque, from the `Link` of the page before'),
  name: z.exactOptional(z.string()).describe('a part of the machine name, in any case'),
});

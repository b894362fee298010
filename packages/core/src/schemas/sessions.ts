import { z } from 'zod';
import { sessionStatuses } from '../session-statuses.ts';
import { Email } from './admin.ts';
import { IdempotencyKey, integerParam, JsonObject, ShownAccount, Timestamp, Uuid } from './common.ts';

/** Of one request that creates a session or appends to one. */
const maxEventsPerRequest = 500;

export const SessionParams = z.object({ id: z.string() });

/** A lone surrogate would be stored as U+FFFD, and two ids that differ become the same. */
const Name = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => name.isWellFormed(), 'must be well-formed Unicode');

/** An event as a client sends it: an open object; `id` is the dedupe key, `data` the payload. */
export const NewEvent = z.looseObject({
  id: z.exactOptional(Name),
  type: Name,
  data: z.exactOptional(JsonObject),
});
export type NewEvent = z.infer<typeof NewEvent>;

/** An event as the service stores and delivers it; `seq` is dense per session, from 1. */
export const SessionEvent = z.looseObject({
  id: z.string(),
  seq: z.number().int().positive(),
  type: z.string(),
  session_id: z.string(),
  account: z
    .exactOptional(ShownAccount)
    .describe("an addition of ours: the member who sent it; a worker's and the service's have none"),
  created_at: Timestamp,
  data: JsonObject,
});
export type SessionEvent = z.infer<typeof SessionEvent>;

const Source = z.looseObject({ type: z.string().min(1) });

export const CreateSessionHeaders = z.object({
  'vendor-client-feature': z.string().min(1),
  'x-organization-uuid': Uuid.min(1),
  'x-environment-runner-version': z.string().min(1),
  'idempotency-key': IdempotencyKey,
});

export const CreateSessionRequest = z.looseObject({
  environment_id: z.string().min(1),
  title: z.string().max(1024).default(''),
  events: z.array(NewEvent).max(maxEventsPerRequest).default([]),
  session_context: z.looseObject({ sources: z.array(Source).default([]) }).default({ sources: [] }),
  tags: z.array(z.string().max(128)).max(64).default([]),
});
export type CreateSessionRequest = z.output<typeof CreateSessionRequest>;

export const SessionStatus = z.enum(sessionStatuses);
export type SessionStatus = z.infer<typeof SessionStatus>;

/** The statuses that a session keeps. */
export const finalStatuses: readonly SessionStatus[] = ['done', 'failed', 'stopped'];

export const Session = z.looseObject({
  id: z.string(),
  title: z.string(),
  environment_id: z.string(),
  work_id: z.string(),
  status: SessionStatus,
  tags: z.array(z.string()),
  account: z.exactOptional(ShownAccount).describe('an addition of ours: who created it'),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_seq: z
    .exactOptional(z.number().int().nonnegative())
    .describe("the log's last event; in the answer for one session"),
});
export type Session = z.infer<typeof Session>;

const aStatus = `(?:${SessionStatus.options.join('|')})`;
const statusList = new RegExp(`^${aStatus}(?:,${aStatus})*$`);

/** A page of a filtered list may be short, or empty, and have a next one: `Link` alone says whether there are more. */
export const SessionsQuery = z.object({
  limit: z.exactOptional(integerParam(1, Number.MAX_SAFE_INTEGER)),
  offset: z.exactOptional(z.string()),
  account_id: z.exactOptional(Uuid.min(1)).describe('only those that this account created'),
  account_email: z
    .exactOptional(Email)
    .describe('only those that the account with this address created; of both, what fits both'),
  environment_id: z.exactOptional(z.string().min(1)).describe('only those of this environment'),
  status: z
    .exactOptional(z.string().regex(statusList, 'must be statuses of a session, with commas between them'))
    .describe('comma-separated: only those with one of these'),
  tag: z.exactOptional(z.string().min(1)).describe('only those with this tag'),
});

export const AppendEventsRequest = z.looseObject({
  events: z.array(NewEvent).min(1).max(maxEventsPerRequest),
});
export const AppendEventsResponse = z.looseObject({
  events: z.array(z.looseObject({ id: z.string(), seq: z.number().int() })),
});

/** What a worker without a WebSocket says; an empty one is a heartbeat. */
export const WorkerEventsRequest = z.looseObject({
  events: z
    .array(NewEvent.extend({ id: Name }))
    .max(maxEventsPerRequest)
    .default([]),
  ack: z.exactOptional(z.number().int().nonnegative()).describe('takes all inbound events up to this seq'),
});

export const StreamQuery = z.object({
  beta: z.exactOptional(z.string()),
  from_seq: z.exactOptional(integerParam(0, Number.MAX_SAFE_INTEGER)).describe('resumes after this seq'),
});

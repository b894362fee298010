import { z } from 'zod';
import { JsonObject } from '../schemas/common.ts';
import {
  AppendEventsResponse,
  SessionEvent,
  SessionParams,
  StreamQuery,
  WorkerEventsRequest,
} from '../schemas/sessions.ts';
import type { Endpoint } from './endpoint.ts';
import { headerNames } from './headers.ts';

/** The version of the worker's stream, in `vendor-version`. */
export const workerVersion = '2023-06-01';

export const worker = {
  /** Step 1 of the handshake. */
  bridge: {
    id: 'worker.bridge',
    area: 'worker',
    summary:
      "Takes over a session's work: a worker JWT of the next epoch, or of the same one for its proven holder",
    method: 'POST',
    path: '/v1/code/sessions/{id}/bridge',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'write',
    headers: z.object({
      'vendor-worker-id': z.exactOptional(z.string().min(1).max(128)),
      'x-worker-token': z.exactOptional(z.string().min(1)),
    }),
    params: SessionParams,
    body: JsonObject,
    emptyBody: 'none',
    responses: {
      200: z.looseObject({
        worker_jwt: z.string(),
        api_base_url: z.string(),
        worker_epoch: z.number().int(),
      }),
    },
    addresses: { api_base_url: 'base' },
    errors: [401, 403, 404, 409],
    transport: 'json',
  },
  /** Step 2. */
  register: {
    id: 'worker.register',
    area: 'worker',
    summary: 'Registers the worker of an epoch; an older epoch is refused',
    method: 'POST',
    path: '/v1/code/sessions/{id}/worker/register',
    auth: 'ingress',
    params: SessionParams,
    body: JsonObject,
    emptyBody: 'none',
    responses: { 200: z.looseObject({ status: z.literal('registered') }) },
    errors: [401, 404, 409],
    transport: 'json',
  },
  /** Step 3. */
  stream: {
    id: 'worker.stream',
    area: 'worker',
    summary:
      "The worker's events both ways: JSON frames over a WebSocket; or the inbound ones as server-sent events",
    method: 'GET',
    path: '/v1/code/sessions/{id}/worker/events/stream',
    auth: 'ingress',
    headers: z.object({
      [headerNames.version]: z.literal(workerVersion),
      'last-event-id': z.exactOptional(z.string()),
    }),
    params: SessionParams,
    query: StreamQuery,
    responses: { 101: SessionEvent },
    errors: [400, 401, 404, 409],
    transport: 'websocket',
    eventStream: true,
  },
  /** Beside step 3 where proxies break WebSockets. */
  events: {
    id: 'worker.events',
    area: 'worker',
    summary: "Takes a worker's events, its acknowledgement and its sign of life, where it has no WebSocket",
    method: 'POST',
    path: '/v1/code/sessions/{id}/worker/events',
    auth: 'ingress',
    params: SessionParams,
    body: WorkerEventsRequest,
    emptyBody: 'none',
    responses: { 200: AppendEventsResponse },
    errors: [400, 401, 404, 409],
    transport: 'json',
    extension: true,
  },
} as const satisfies Record<string, Endpoint>;

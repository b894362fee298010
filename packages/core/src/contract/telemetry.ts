import { z } from 'zod';
import { EventBatch, ExportLogsRequest, ExportLogsResponse } from '../schemas/telemetry.ts';
import type { Endpoint } from './endpoint.ts';

/** Events in one request of the batch endpoint, and the pause after which a client sends what waits. */
export const batchLimits = { maxEvents: 50, flushIntervalMs: 60_000 } as const;

export const telemetry = {
  batch: {
    id: 'telemetry.batch',
    area: 'telemetry',
    summary: 'Stores up to 50 events, all or none',
    method: 'POST',
    path: '/api/event_logging/v2/batch',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    headers: z.object({
      'x-service-name': z.string().min(1).max(128),
      'idempotency-key': z.exactOptional(z.string().min(1).max(255)),
    }),
    body: EventBatch,
    responses: { 200: z.looseObject({ accepted: z.number().int() }) },
    errors: [400, 401, 413, 429, 500],
    limits: { bodyBytes: 8 * 1024 * 1024 },
    transport: 'json',
  },
  logs: {
    id: 'telemetry.logs',
    area: 'telemetry',
    summary: 'Takes OTLP logs, as JSON or protobuf',
    method: 'POST',
    path: '/v1/logs',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    body: ExportLogsRequest,
    encodings: ['json', 'protobuf'],
    responses: { 200: ExportLogsResponse },
    errors: [400, 401, 500],
    limits: { bodyBytes: 8 * 1024 * 1024 },
    transport: 'json',
  },
} as const satisfies Record<string, Endpoint>;

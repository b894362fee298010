import { z } from 'zod';
import { FeedbackForm } from '../schemas/feedback.ts';
import type { Endpoint } from './endpoint.ts';

export const feedback = {
  bundle: {
    id: 'feedback.bundle',
    area: 'feedback',
    summary: 'Uploads a description and a ZIP of logs and diagnostics',
    method: 'POST',
    path: '/api/agent_cli_feedback/bundle',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    body: FeedbackForm,
    encodings: ['multipart'],
    responses: { 200: z.looseObject({ feedback_id: z.string() }) },
    errors: [400, 403, 413, 429, 500],
    limits: { timeoutMs: 60_000, bodyBytes: 50 * 1024 * 1024 },
    transport: 'multipart',
  },
} as const satisfies Record<string, Endpoint>;

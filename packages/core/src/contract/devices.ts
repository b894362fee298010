import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

export const devices = {
  trust: {
    id: 'devices.trust',
    area: 'devices',
    summary: 'Makes this machine a trusted device; answers with its token, shown once',
    method: 'POST',
    path: '/api/auth/trusted_devices',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    body: z.looseObject({
      display_name: z
        .string()
        .trim()
        .min(1)
        .max(128)
        .regex(/^\P{Cc}*$/u, 'must not have control characters'),
    }),
    responses: { 200: z.string() },
    errors: [400, 401, 429],
    transport: 'text',
  },
} as const satisfies Record<string, Endpoint>;

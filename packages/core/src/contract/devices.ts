import { z } from 'zod';
import { Deleted, Uuid } from '../schemas/common.ts';
import { TrustedDevices } from '../schemas/devices.ts';
import { Name } from '../schemas/name.ts';
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
      display_name: Name,
    }),
    responses: { 200: z.string() },
    errors: [400, 401, 429],
    transport: 'text',
  },
  list: {
    id: 'devices.list',
    area: 'devices',
    summary: "The caller's trusted devices in the organization, newest first",
    method: 'GET',
    path: '/api/auth/trusted_devices',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    responses: { 200: TrustedDevices },
    errors: [401, 429],
    transport: 'json',
    extension: true,
  },
  revoke: {
    id: 'devices.revoke',
    area: 'devices',
    summary:
      'Revokes a trusted device of the caller: its token proves nothing, and bridges registered with it end',
    method: 'DELETE',
    path: '/api/auth/trusted_devices/{device_id}',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    params: z.object({ device_id: Uuid }),
    responses: { 200: Deleted },
    errors: [401, 404, 429],
    transport: 'json',
    extension: true,
  },
} as const satisfies Record<string, Endpoint>;

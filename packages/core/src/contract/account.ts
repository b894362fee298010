import { z } from 'zod';
import { Bootstrap, CurrentUserAccess, ManagedSettings } from '../schemas/account.ts';
import { Uuid } from '../schemas/common.ts';
import type { Endpoint } from './endpoint.ts';

export const account = {
  bootstrap: {
    id: 'account.bootstrap',
    area: 'account',
    summary: 'The account and its organizations, before or after sign-in',
    method: 'GET',
    path: '/api/bootstrap',
    auth: 'optional',
    responses: { 200: Bootstrap },
    errors: [429, 500],
    transport: 'json',
  },
  access: {
    id: 'account.access',
    area: 'account',
    summary: "The caller's access level and permissions in an organization",
    method: 'GET',
    path: '/api/bootstrap/{org_id}/current_user_access',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    params: z.object({ org_id: Uuid }),
    responses: { 200: CurrentUserAccess },
    errors: [401, 403, 404, 429],
    transport: 'json',
  },
  settings: {
    id: 'account.settings',
    area: 'account',
    summary: "The organization's managed settings, for its members' programs; 204 where there are none",
    method: 'GET',
    path: '/api/agent_code/settings',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'read',
    beta: 'oauth-2025-04-20',
    responses: { 200: ManagedSettings, 204: null },
    errors: [401, 429, 500],
    limits: { timeoutMs: 10_000 },
    transport: 'json',
  },
} as const satisfies Record<string, Endpoint>;

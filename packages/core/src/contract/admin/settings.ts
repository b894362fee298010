import { z } from 'zod';
import { ManagedSettings } from '../../schemas/account.ts';
import { SetSettingRequest } from '../../schemas/admin.ts';
import type { Endpoint } from '../endpoint.ts';

const SettingParams = z.object({ name: z.string() });

/** What the organization sets for its members' programs, which read it at `account.settings`. */
export const settings = {
  listSettings: {
    id: 'admin.listSettings',
    area: 'admin',
    summary: "The organization's managed settings",
    method: 'GET',
    path: '/api/admin/settings',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    responses: { 200: ManagedSettings },
    errors: [401, 403],
    transport: 'json',
    extension: true,
  },
  setSetting: {
    id: 'admin.setSetting',
    area: 'admin',
    summary: 'Sets one managed setting; answers with all',
    method: 'POST',
    path: '/api/admin/settings/{name}',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    params: SettingParams,
    body: SetSettingRequest,
    responses: { 200: ManagedSettings },
    errors: [400, 401, 403, 409],
    transport: 'json',
    extension: true,
  },
  unsetSetting: {
    id: 'admin.unsetSetting',
    area: 'admin',
    summary: 'Removes one managed setting; answers with those that are left',
    method: 'DELETE',
    path: '/api/admin/settings/{name}',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    params: SettingParams,
    responses: { 200: ManagedSettings },
    errors: [401, 403, 404],
    transport: 'json',
    extension: true,
  },
} as const satisfies Record<string, Endpoint>;

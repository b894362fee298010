import { z } from 'zod';
import { AddClientRequest, OAuthClient, PageQuery } from '../../schemas/admin.ts';
import { Deleted, NextPage, Uuid } from '../../schemas/common.ts';
import type { Endpoint } from '../endpoint.ts';

/** OAuth clients are of the whole installation: its first organization's admins add and remove them. */
export const clients = {
  listClients: {
    id: 'admin.listClients',
    area: 'admin',
    summary: "The installation's OAuth clients, oldest first",
    method: 'GET',
    path: '/api/admin/clients',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    query: PageQuery,
    responses: { 200: z.array(OAuthClient) },
    responseHeaders: NextPage,
    errors: [400, 401, 403],
    limits: { pageSize: 100 },
    transport: 'json',
    extension: true,
  },
  addClient: {
    id: 'admin.addClient',
    area: 'admin',
    summary: "Registers a public OAuth client; for admins of the installation's first organization",
    method: 'POST',
    path: '/api/admin/clients',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    body: AddClientRequest,
    responses: { 201: OAuthClient },
    errors: [400, 401, 403],
    transport: 'json',
    extension: true,
  },
  removeClient: {
    id: 'admin.removeClient',
    area: 'admin',
    summary:
      "Removes an OAuth client and revokes its logins; for admins of the installation's first organization",
    method: 'DELETE',
    path: '/api/admin/clients/{client_id}',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    params: z.object({ client_id: Uuid }),
    responses: { 200: Deleted },
    errors: [401, 403, 404, 409],
    transport: 'json',
    extension: true,
  },
} as const satisfies Record<string, Endpoint>;

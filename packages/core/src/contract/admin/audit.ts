import { z } from 'zod';
import { AuditEntry, AuditQuery } from '../../schemas/admin.ts';
import { NextPage } from '../../schemas/common.ts';
import type { Endpoint } from '../endpoint.ts';

export const audit = {
  listAudit: {
    id: 'admin.listAudit',
    area: 'admin',
    summary: "What was done in the organization and to its members' accounts, newest first",
    method: 'GET',
    path: '/api/admin/audit',
    auth: 'access_token',
    scope: 'vendor_api',
    permission: 'manage_projects',
    query: AuditQuery,
    responses: { 200: z.array(AuditEntry) },
    responseHeaders: NextPage,
    errors: [400, 401, 403],
    limits: { pageSize: 100 },
    transport: 'json',
    extension: true,
  },
} as const satisfies Record<string, Endpoint>;

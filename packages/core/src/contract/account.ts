import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

export const Bootstrap = z.looseObject({
  account: z.looseObject({
    uuid: z.string(),
    memberships: z.array(
      z.looseObject({ organization: z.looseObject({ uuid: z.string(), capabilities: z.array(z.string()) }) }),
    ),
  }),
});
export type Bootstrap = z.infer<typeof Bootstrap>;

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
} as const satisfies Record<string, Endpoint>;

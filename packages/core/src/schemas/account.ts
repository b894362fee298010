import { z } from 'zod';
import { roles } from '../organization.ts';

/** The account of the bootstrap document where nobody is signed in: the nil UUID (RFC 9562 5.9). */
export const nobodyId = '00000000-0000-0000-0000-000000000000';

export const Bootstrap = z.looseObject({
  account: z.looseObject({
    uuid: z.string(),
    memberships: z.array(
      z.looseObject({
        organization: z.looseObject({
          uuid: z.string(),
          capabilities: z.array(z.string()),
          name: z.string().optional().describe('an addition of ours: what people know it by'),
        }),
      }),
    ),
  }),
});
export type Bootstrap = z.infer<typeof Bootstrap>;

export const CurrentUserAccess = z.looseObject({
  access_level: z.enum(roles),
  permissions: z.array(z.string()),
});
export type CurrentUserAccess = z.infer<typeof CurrentUserAccess>;

export const ManagedSettings = z.looseObject({
  settings: z.record(z.string(), z.unknown()).describe('setting name to value'),
});
export type ManagedSettings = z.infer<typeof ManagedSettings>;

import { z } from 'zod';
import { Timestamp } from './common.ts';

export const TrustedDevices = z.looseObject({
  trusted_devices: z.array(
    z.looseObject({
      id: z.string(),
      display_name: z.string(),
      created_at: Timestamp,
      last_used_at: Timestamp.nullable().describe('to the minute; `null`: never'),
    }),
  ),
});

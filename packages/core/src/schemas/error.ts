import { z } from 'zod';

/** The one error shape of the wire; `errors.ts` has the codes. */
export const ErrorResponse = z.looseObject({
  error: z.string().describe('a stable code to match on'),
  error_description: z.string().describe('one sentence for people'),
  request_id: z.string(),
  issues: z
    .exactOptional(z.array(z.looseObject({ path: z.string(), message: z.string() })))
    .describe('every bad field of a request, its path joined by slashes'),
});

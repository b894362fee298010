import { z } from 'zod';

/** An open JSON object: kept whole, unknown keys included. */
export const JsonObject = z.record(z.string(), z.unknown());
export type JsonObject = z.infer<typeof JsonObject>;

/** RFC 9562 4: written in lower case, read in either. */
export const Uuid = z.string().toLowerCase();

export const Timestamp = z.iso.datetime().describe('RFC 3339, UTC, milliseconds');

/** Query members arrive as text; `z.coerce` would take `''` for 0, so the digits are checked first. */
export function integerParam(min: number, max: number) {
  return z
    .union([z.string().regex(/^\d{1,15}$/, 'must be a whole number'), z.number().int()])
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
}

/** The same request under the same key is done once; what is another one under it is refused. */
export const IdempotencyKey = z.exactOptional(z.string().min(1).max(255));

export const Deleted = z.looseObject({ id: z.string(), deleted: z.literal(true) });

/** An account as records show it. */
export const ShownAccount = z.looseObject({
  id: z.string(),
  email: z.exactOptional(z.string().nullable()).describe('where it is read; `null`: it is there no more'),
});

/** RFC 8288: where the next page of a list is, with `rel="next"`; absent on the last one. */
export const NextPage = z.object({ link: z.exactOptional(z.string()) });

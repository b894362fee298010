import type { Json } from './records.ts';

/** Shallow: a member that is sent replaces the known one, `null` removes it (as RFC 7396 does, one level deep). */
export function mergeMetadata(known: Json, sent: Json): Json {
  return Object.fromEntries(Object.entries({ ...known, ...sent }).filter(([name]) => sent[name] !== null));
}

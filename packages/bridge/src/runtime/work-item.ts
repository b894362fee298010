import type { Work } from './sessions.ts';

/** What a poll's answer delivers. */
export type Delivery =
  | { readonly kind: 'none' }
  | { readonly kind: 'work'; readonly work: Work }
  /** Nothing that we could run; it stays unacknowledged. `id` is whatever tells it from others. */
  | { readonly kind: 'unknown'; readonly id: string; readonly reason: string };

const idForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

/** Reads the body of a poll by the kinds of work that are run here, whatever it is: none, `null` and `{}` all mean that nothing waits. */
export function readDelivery(body: unknown, types: readonly string[]): Delivery {
  if (body === undefined || body === null) return { kind: 'none' };
  if (typeof body !== 'object' || Array.isArray(body)) return unknown('', 'the work item is no object');
  if (Object.keys(body).length === 0) return { kind: 'none' };
  const { id, data } = body as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || !idForm.test(id))
    return unknown(String(id), 'the work item has no proper id');
  if (typeof data !== 'object' || data === null) return unknown(id, 'the work item has no data');
  const { type, id: sessionId } = data as Readonly<Record<string, unknown>>;
  if (typeof type !== 'string' || !types.includes(type))
    return unknown(id, `the kind of work is not known: ${String(type)}`);
  // It becomes a file's name and part of addresses.
  if (typeof sessionId !== 'string' || !idForm.test(sessionId))
    return unknown(id, 'the work item names no proper session');
  return { kind: 'work', work: { id, type, sessionId } };
}

function unknown(id: string, reason: string): Delivery {
  return { kind: 'unknown', id, reason };
}

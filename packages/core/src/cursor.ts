import { ServiceError } from './errors.ts';

/** A place in a list that is sorted by creation: the item after which the next page begins. */
export interface Place {
  readonly createdAt: number;
  readonly id: string;
}

/** An opaque `offset`. */
function encodePlace({ createdAt, id }: Place): string {
  return Buffer.from(`${String(createdAt)} ${id}`).toString('base64url');
}

/** Throws `invalid_request`: a bad token is never an empty page. */
export function decodePlace(offset: string): Place {
  const match = /^(\d{1,15}) (\S{1,200})$/.exec(Buffer.from(offset, 'base64url').toString());
  if (match?.[1] === undefined || match[2] === undefined) throw badOffset();
  return { createdAt: Number(match[1]), id: match[2] };
}

/** For an `offset` that names no place in the list. */
export function badOffset(): ServiceError {
  return new ServiceError('invalid_request', 'The offset is not one that this service gave.', {
    issues: [{ path: 'offset', message: 'not a page token' }],
  });
}

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The `offset` of the next page, if there is one. */
  readonly next: string | undefined;
}

/** Reads a page: `read` is asked for one item more than that has, from the place on that `offset` names. */
export async function readPage<Item extends Place>(
  { limit, offset }: { readonly limit: number; readonly offset?: string | undefined },
  read: (part: { readonly limit: number; readonly before: Place | undefined }) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  const before = offset === undefined ? undefined : decodePlace(offset);
  return pageOf(await read({ limit: limit + 1, before }), limit);
}

/** Cuts what was read with a limit of one more than the page has. */
export function pageOf<Item extends Place>(read: readonly Item[], limit: number): Page<Item> {
  const items = read.slice(0, limit);
  const last = items.at(-1);
  return { items, next: read.length > limit && last ? encodePlace(last) : undefined };
}

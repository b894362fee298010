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

/** What a store gives of a list at once. */
export interface Part<Item> {
  readonly items: readonly Item[];
  /** Whether the list ends with them. */
  readonly isLast: boolean;
}

/** Bytes of a part, at most; the first item may have more. */
export const partBytes = 1024 * 1024;

/**
 * Takes rows until there are `limit` or `partBytes` of them. `rows` is read one by one, so that no more is in memory than is
 * given, and must go on behind the limit, if only by one: so the end is known.
 */
export function readPart<Row extends object, Item>(
  rows: Iterable<Row>,
  limit: number,
  toItem: (row: Row) => Item,
): Part<Item> {
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += weightOf(row);
    if (items.length >= limit || (items.length > 0 && bytes > partBytes)) return { items, isLast: false };
    items.push(toItem(row));
  }
  return { items, isLast: true };
}

/** Of its texts, as UTF-8: what else a row has is small. */
function weightOf(row: object): number {
  let bytes = 0;
  for (const value of Object.values(row) as unknown[])
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
  return bytes;
}

/** A part of a list, as it is answered with. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The `offset` of the next page, if there is one. */
  readonly next: string | undefined;
}

/** Reads a page: `read` gives the part from the place on that `offset` names. */
export async function readPage<Item extends Place>(
  { limit, offset }: { readonly limit: number; readonly offset?: string | undefined },
  read: (part: { readonly limit: number; readonly before: Place | undefined }) => Promise<Part<Item>>,
): Promise<Page<Item>> {
  return pageOf(await read({ limit, before: offset === undefined ? undefined : decodePlace(offset) }));
}

/** The page that a part is. */
export function pageOf<Item extends Place>({ items, isLast }: Part<Item>): Page<Item> {
  const last = items.at(-1);
  return { items, next: isLast || !last ? undefined : encodePlace(last) };
}

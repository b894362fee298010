import { isJsonObject } from '@sallyport/core';
import type { SessionEvent } from '@sallyport/core/contract';
import type { ChangedFile, SourceChanges, UnknownChanges } from './events.ts';

/** What a session changed in one source, with as much of its patch as there is: a log that was trimmed may lack some. */
export interface PatchedChanges extends SourceChanges {
  /** In whatever encoding the files are. */
  readonly patch: Uint8Array;
}

/**
 * Puts together what a session's log tells of its changes, event by event.
 *
 * @example
 * const reader = new ChangesReader();
 * for (const event of events) latest = reader.take(event) ?? latest;
 */
export class ChangesReader {
  readonly #mostBytes: number;
  #pieces: Buffer[][] = [];
  #bytes = 0;

  /** `mostBytes`: so much of patches is kept; one that goes on is shorter than its `patch_bytes`. */
  constructor({ mostBytes = 64 * 1024 * 1024 }: { readonly mostBytes?: number } = {}) {
    this.#mostBytes = mostBytes;
  }

  /** Gives what changed, source by source, with the event that completes it. */
  take({
    type,
    data,
  }: Pick<SessionEvent, 'type' | 'data'>): readonly (PatchedChanges | UnknownChanges)[] | undefined {
    if (type === 'worker.patch') this.#keep(data);
    // What an earlier attempt told is not the beginning of what this one tells.
    if (type !== 'worker.changes' && type !== 'worker.ready') return undefined;
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    const { sources } = data;
    if (type === 'worker.ready' || !Array.isArray(sources)) return undefined;
    return sources.flatMap((source, index) =>
      isJsonObject(source) ? [toReport(source, Buffer.concat(pieces[index] ?? []))] : [],
    );
  }

  #keep({ source, text, base64 }: SessionEvent['data']): void {
    if (typeof source !== 'number' || !Number.isSafeInteger(source) || source < 0 || source > 10_000) return;
    const piece =
      typeof text === 'string'
        ? Buffer.from(text)
        : Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64');
    this.#bytes += piece.length;
    if (this.#bytes <= this.#mostBytes) (this.#pieces[source] ??= []).push(piece);
  }
}

/** A worker sends what it likes: every member is looked at. */
function toReport(
  source: Readonly<Record<string, unknown>>,
  patch: Uint8Array,
): PatchedChanges | UnknownChanges {
  const text = (name: string) => (typeof source[name] === 'string' ? source[name] : '');
  const count = (name: string) => (isCount(source[name]) ? source[name] : 0);
  const origin = { url: text('url'), branch: text('branch'), base: text('base') };
  if (typeof source['error'] === 'string') return { ...origin, error: source['error'] };
  return {
    ...origin,
    ...(typeof source['head'] === 'string' && { head: source['head'] }),
    files: toFiles(source['files']),
    file_count: count('file_count'),
    added: count('added'),
    removed: count('removed'),
    patch_bytes: count('patch_bytes'),
    ...(source['truncated'] === true && { truncated: true }),
    ...(source['withheld'] === true && { withheld: true }),
    ...(source['redacted'] === true && { redacted: true }),
    patch,
  };
}

function toFiles(files: unknown): readonly ChangedFile[] {
  if (!Array.isArray(files)) return [];
  return files
    .filter((file) => isJsonObject(file))
    .flatMap(({ path, from, added, removed }) => {
      if (typeof path !== 'string') return [];
      const lines = isCount(added) && isCount(removed) && { added, removed };
      return [{ path, ...(typeof from === 'string' && { from }), ...lines }];
    });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

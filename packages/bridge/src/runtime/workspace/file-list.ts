import type { ChangedFile } from '../../protocol/events.ts';

const nul = 0;
/** `added`, `removed` and a path; a renamed file has none, and two that follow. */
const entry = /^(\d+|-)\t(\d+|-)\t([^]*)$/;

/** The files that `git diff --numstat -z` tells of: all are counted, as many are listed as take `mostBytes` as JSON. */
export class FileList {
  readonly #mostBytes: number;
  readonly #files: ChangedFile[] = [];
  #bytes = 0;
  #count = 0;
  #added = 0;
  #removed = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get files(): readonly ChangedFile[] {
    return this.#files;
  }

  get count(): number {
    return this.#count;
  }

  get added(): number {
    return this.#added;
  }

  get removed(): number {
    return this.#removed;
  }

  /** Takes the output of one call of git, whose paths begin at `prefix`. */
  reader(prefix: string): (chunk: Buffer) => void {
    let torn: Buffer = Buffer.alloc(0);
    let renamed: { readonly counts: Pick<ChangedFile, 'added' | 'removed'>; from?: string } | undefined;
    const read = (token: string) => {
      if (renamed?.from === undefined && renamed) renamed.from = `${prefix}${token}`;
      else if (renamed) {
        const { counts, from = '' } = renamed;
        renamed = undefined;
        this.#add({ path: `${prefix}${token}`, from, ...counts });
      } else {
        const [, added = '-', removed = '-', path = ''] = entry.exec(token) ?? [];
        const counts = added === '-' ? {} : { added: Number(added), removed: Number(removed) };
        if (path === '') renamed = { counts };
        else this.#add({ path: `${prefix}${path}`, ...counts });
      }
    };
    return (chunk) => {
      const bytes = torn.length === 0 ? chunk : Buffer.concat([torn, chunk]);
      let start = 0;
      for (let end = bytes.indexOf(nul); end >= 0; end = bytes.indexOf(nul, start)) {
        read(bytes.toString('utf8', start, end));
        start = end + 1;
      }
      torn = bytes.subarray(start);
    };
  }

  #add(file: ChangedFile): void {
    this.#count += 1;
    this.#added += file.added ?? 0;
    this.#removed += file.removed ?? 0;
    const isWhole = this.#files.length === this.#count - 1;
    const size = Buffer.byteLength(JSON.stringify(file)) + 1;
    if (!isWhole || this.#bytes + size > this.#mostBytes) return;
    this.#bytes += size;
    this.#files.push(file);
  }
}

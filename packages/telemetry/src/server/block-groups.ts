import { summarize } from './block-summary.ts';
import type { TelemetryRecord } from './log-record.ts';
import type { RecordGroup, RecordResource, RecordScope } from './logs-request.ts';
import type { WrittenBlock } from './ports.ts';

/** Where a block ends: with the record that reaches either. */
export const blockRecords = 1024;
export const blockBytes = 512 * 1024;

/** Groups as a block of the form `groups` has them: JSON, in which what several scopes are of is there once. */
export type PackedGroups = readonly {
  readonly serviceName: string;
  readonly resource: RecordResource | null;
  readonly scopes: readonly {
    readonly scope: RecordScope | null;
    readonly records: readonly TelemetryRecord[];
  }[];
}[];

/** Writes records in a form of its own, in as many blocks as they need. */
export function packGroups(groups: readonly RecordGroup[]): WrittenBlock[] {
  const blocks: WrittenBlock[] = [];
  let block = new OpenBlock();
  for (const group of groups)
    for (const record of group.records) {
      block.add(group, record);
      if (!block.isFull()) continue;
      blocks.push(block.close());
      block = new OpenBlock();
    }
  return block.isEmpty() ? blocks : [...blocks, block.close()];
}

/** The text of a block as it grows. */
class OpenBlock {
  readonly #parts: string[] = ['['];
  readonly #groups: (RecordGroup & { readonly records: TelemetryRecord[] })[] = [];
  #last: RecordGroup | undefined;
  #records = 0;
  #length = 0;

  isEmpty(): boolean {
    return this.#records === 0;
  }

  isFull(): boolean {
    return this.#records >= blockRecords || this.#length >= blockBytes;
  }

  add(group: RecordGroup, record: TelemetryRecord): void {
    const { serviceName, resource, scope } = group;
    const last = this.#last;
    if (last === group) this.#write(',');
    else {
      if (last?.resource !== resource || last.serviceName !== serviceName) {
        if (last) this.#write(']}]},');
        this.#write(
          `{"serviceName":${JSON.stringify(serviceName)},"resource":${JSON.stringify(resource)},"scopes":[`,
        );
      } else this.#write(']},');
      this.#write(`{"scope":${JSON.stringify(scope)},"records":[`);
      this.#groups.push({ ...group, records: [] });
      this.#last = group;
    }
    this.#write(JSON.stringify(record));
    this.#groups.at(-1)?.records.push(record);
    this.#records += 1;
  }

  close(): WrittenBlock {
    this.#write(']}]}]');
    const content = new TextEncoder().encode(this.#parts.join(''));
    return { form: 'groups', records: this.#records, summary: summarize(this.#groups, content), content };
  }

  #write(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }
}

export function unpackGroups(content: Uint8Array): RecordGroup[] {
  return groupsOf(JSON.parse(new TextDecoder().decode(content)) as PackedGroups);
}

export function groupsOf(packed: PackedGroups): RecordGroup[] {
  return packed.flatMap(({ serviceName, resource, scopes }) =>
    scopes.map(({ scope, records }) => ({ serviceName, resource, scope, records })),
  );
}

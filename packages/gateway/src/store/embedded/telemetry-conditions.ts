import type { SQLInputValue } from 'node:sqlite';
import type { RecordFilter } from '@sallyport/telemetry/storage';

/** Conditions of a WHERE, which holds where all of them do. */
export interface Conditions {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** What the columns can tell of a filter, but for the organization and the time of receipt, which the index has. */
export function conditionsOf(filter: RecordFilter): Conditions {
  const sql: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: SQLInputValue[]) => {
    sql.push(condition);
    parameters.push(...values);
  };
  const { accountId, serviceName, eventName, traceId, minSeverity, fromTime, toTime, text } = filter;
  if (accountId !== undefined) add('account_id = ?', accountId);
  if (serviceName !== undefined) add('service_name = ?', serviceName);
  if (eventName !== undefined) add('event_name = ?', eventName);
  if (traceId !== undefined) add('trace_id = ?', traceId);
  if (minSeverity !== undefined) add('severity_number >= ?', minSeverity);
  // Decimal digits compare as numbers do, once the longer ones are the larger ones.
  if (fromTime !== undefined)
    add('(length(time_unix_nano), time_unix_nano) >= (?, ?)', fromTime.length, fromTime);
  if (toTime !== undefined) add('(length(time_unix_nano), time_unix_nano) < (?, ?)', toTime.length, toTime);
  // Those that cannot have it are left out before their JSON is parsed; whether one has it, `hasContent` says.
  for (const { key } of filter.attributes ?? [])
    add('(instr(attributes, ?) > 0 OR resource_id IS NOT NULL)', `"key":${JSON.stringify(key)}`);
  if (text !== undefined && isPlain(text))
    add('(body LIKE ? OR attributes LIKE ?)', `%${text}%`, `%${text}%`);
  return { sql: sql.map((condition) => ` AND ${condition}`).join(''), parameters };
}

export function asksForContent({ attributes = [], text }: RecordFilter): boolean {
  return attributes.length > 0 || text !== undefined;
}

/** Letters that JSON writes as they are, and whose case SQLite folds as JavaScript does; k and s have relatives beyond ASCII. */
function isPlain(text: string): boolean {
  return /^[a-jl-rt-zA-JL-RT-Z0-9 .,:;/@=+-]+$/.test(text);
}

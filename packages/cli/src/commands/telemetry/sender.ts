import type { Client } from '@sallyport/core/client';
import { nobodyId, type InputFor, type contract, type TelemetryRecord } from '@sallyport/core/contract';
import { CommandError, exitCodes } from '../../io/exit.ts';

/** Whose records are asked for. A service that does not know the filter gives everybody's: that is refused here. */
export interface Sender {
  readonly account_id?: string;
  readonly account_email?: string;
}

type StatsQuery = NonNullable<InputFor<typeof contract.telemetry.stats>['query']>;

/** Gives them back where all of them are the sender's. */
export function sentBy(records: readonly TelemetryRecord[], sender: Sender): readonly TelemetryRecord[] {
  const { account_id: id, account_email: email } = sender;
  const isTheirs = (record: TelemetryRecord) =>
    (id === undefined || record.account_id === id) &&
    (email === undefined || record.account_email?.toLowerCase() === email.toLowerCase());
  if (!records.every(isTheirs)) throw filterUnknown(sender);
  return records;
}

/** Counts records. Counts do not tell whose they are: so it is asked, too, for nobody's, of which there are none. */
export async function countsOf(client: Client, query: StatsQuery & Sender, signal: AbortSignal) {
  const { account_id: id, account_email: email } = query;
  const nobody = {
    ...(id !== undefined && { account_id: nobodyId }),
    ...(email !== undefined && { account_email: 'nobody@nowhere.invalid' }),
  };
  const [counts, nobodys] = await Promise.all([
    client.telemetry.stats({ query, signal }),
    Object.keys(nobody).length === 0
      ? undefined
      : client.telemetry.stats({ query: { ...query, ...nobody, buckets: 1 }, signal }),
  ]);
  if (nobodys !== undefined && nobodys.total > 0) throw filterUnknown(query);
  return counts;
}

function filterUnknown({ account_email: email }: Sender): CommandError {
  const what = email === undefined ? 'the account that sent them' : 'the e-mail address of who sent them';
  return new CommandError(
    'unknown_filter',
    `This service does not filter records by ${what}: it is an older one.`,
    exitCodes.failed,
    email === undefined
      ? 'Leave --account out: the records say whose they are.'
      : 'Name the account by its id, which the records have: sallyport telemetry query --json',
  );
}

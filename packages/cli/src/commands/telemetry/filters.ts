import { toTimestamp, type Clock, type SeverityName } from '@sallyport/core';
import type { Moment } from '@sallyport/core/duration';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { ownAccount } from '../session/started-by.ts';

/** What the commands take to say which records are meant. */
export interface FilterOptions {
  readonly since?: Moment;
  readonly until?: Moment;
  readonly severity?: SeverityName;
  /** An e-mail address, an id, or `me`. */
  readonly account?: string;
  readonly service?: string;
  readonly event?: string;
  readonly trace?: string;
  readonly attribute: readonly string[];
  readonly text?: string;
}

/** A connection to read records by, and the query that the options make: what is wrong with them is told without a login. */
export async function connectToRead(context: Context, options: FilterOptions) {
  const filters = filtersOf(options, context.clock);
  const connection = await connect(context);
  return { connection, query: { ...filters, ...(await accountQuery(context, connection, options.account)) } };
}

/** Which records are meant, as the service is asked for them. */
export type RecordsQuery = Awaited<ReturnType<typeof connectToRead>>['query'];

async function accountQuery(context: Context, connection: Connection, account: string | undefined) {
  if (account === undefined) return {};
  if (account.includes('@')) return { account_email: account };
  const id = account === 'me' ? await ownAccount(context, connection) : account.toLowerCase();
  if (id !== undefined) return { account_id: id };
  throw new CommandError(
    'unknown_account',
    'This service does not say which account is yours.',
    exitCodes.failed,
    'Name it by its e-mail address.',
  );
}

function filtersOf(options: FilterOptions, clock: Clock) {
  const { since, until, severity, service, event, trace, attribute, text } = options;
  for (const one of attribute) if (!/^[^=]+=/s.test(one)) throw unfit('--attribute', 'key=value', one);
  if (trace !== undefined && !/^[0-9a-f]{32}$/i.test(trace))
    throw unfit('--trace', "a trace's id, 32 hex digits", trace);
  const from = since && toTimestamp(since(clock.now()));
  const to = until && toTimestamp(until(clock.now()));
  if (from !== undefined && to !== undefined && from >= to)
    throw new CommandError(
      'usage',
      `--since (${from}) is not before --until (${to}).`,
      exitCodes.usage,
      'A span counts back from now: --since 2h --until 1h is the hour before the last one.',
    );
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(severity !== undefined && { min_severity: severity }),
    ...(service !== undefined && { service }),
    ...(event !== undefined && { event_name: event }),
    ...(trace !== undefined && { trace_id: trace }),
    ...(attribute.length > 0 && { attribute: [...attribute] }),
    ...(text !== undefined && { text }),
  };
}

function unfit(option: string, wanted: string, text: string): CommandError {
  return new CommandError(
    'usage',
    `${option} needs ${wanted}, not ${JSON.stringify(text)}.`,
    exitCodes.usage,
    'See: sallyport telemetry query --help',
  );
}

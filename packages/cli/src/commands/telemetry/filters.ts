import type { Clock, SeverityName } from '@sallyport/core';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { parseDuration } from '../duration.ts';

/** What the commands take to say which records are meant. */
export interface FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly severity?: SeverityName;
  readonly account?: string;
  readonly service?: string;
  readonly event?: string;
  readonly trace?: string;
  readonly attribute: readonly string[];
  readonly text?: string;
}

/** The query that the options make. */
export function filtersOf(options: FilterOptions, clock: Clock) {
  const { since, until, severity, account, service, event, trace, attribute, text } = options;
  for (const one of attribute) if (!/^[^=]+=/s.test(one)) throw unfit('--attribute', 'key=value', one);
  if (account !== undefined && !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(account))
    throw unfit('--account', "an account's id, as `telemetry query --json` shows it", account);
  if (trace !== undefined && !/^[0-9a-f]{32}$/i.test(trace))
    throw unfit('--trace', "a trace's id, 32 hex digits", trace);
  const from = since === undefined ? undefined : timeOf(since, '--since', clock);
  const to = until === undefined ? undefined : timeOf(until, '--until', clock);
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
    ...(account !== undefined && { account_id: account.toLowerCase() }),
    ...(service !== undefined && { service }),
    ...(event !== undefined && { event_name: event }),
    ...(trace !== undefined && { trace_id: trace }),
    ...(attribute.length > 0 && { attribute: [...attribute] }),
    ...(text !== undefined && { text }),
  };
}

/** A span before now (`15m`), or a time that JavaScript can read: an RFC 3339 one, a date, either without a zone of here. */
function timeOf(text: string, option: string, clock: Clock): string {
  const span = parseDuration(text);
  const ms =
    span === undefined ? Date.parse(/^\d{4}-/.test(text) ? text : '') : Math.max(0, clock.now() - span);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw unfit(option, 'a span such as 15m, 2h or 7d, or a time such as 2026-01-31T12:00Z', text);
}

function unfit(option: string, wanted: string, text: string): CommandError {
  return new CommandError(
    'usage',
    `${option} needs ${wanted}, not ${JSON.stringify(text)}.`,
    exitCodes.usage,
    'See: sallyport telemetry query --help',
  );
}

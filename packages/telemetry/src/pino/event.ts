import type { TelemetryEvent } from '../client/event.ts';

/** A line of pino's, parsed. */
export interface PinoLine extends Readonly<Record<string, unknown>> {
  readonly level?: unknown;
  readonly time?: unknown;
  readonly msg?: unknown;
}

const levelNames: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/**
 * A line of pino's as an event: `msg` is the body, everything else attributes, an error those of OpenTelemetry's
 * conventions. The machine's name is left out: it is often its owner's.
 */
export function toEvent({
  level,
  time,
  msg,
  hostname: _,
  pid,
  name,
  err,
  ...rest
}: PinoLine): TelemetryEvent {
  const at = toEpochMs(time);
  return {
    name: 'log',
    ...severityOf(level),
    ...(msg !== undefined && { body: msg }),
    ...(at !== undefined && { timeUnixNano: String(BigInt(at) * 1_000_000n) }),
    attributes: { 'logger.name': name, 'process.pid': pid, ...exceptionOf(err), ...rest },
  };
}

/** pino's levels are ten apart, OTLP's ranges of severity four. A program may have levels in between, or write names. */
function severityOf(level: unknown): Pick<TelemetryEvent, 'severityNumber' | 'severityText'> {
  if (typeof level === 'number') {
    const severityNumber = Math.min(24, Math.max(1, Math.round(level / 10) * 4 - 3));
    return { severityNumber, severityText: levelNames[level] ?? String(level) };
  }
  if (typeof level !== 'string') return {};
  const [known] = Object.entries(levelNames).find(([, text]) => text === level.toLowerCase()) ?? [];
  return { ...(known !== undefined && severityOf(Number(known))), severityText: level };
}

function toEpochMs(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : time;
  return typeof ms === 'number' && ms > 0 && Number.isFinite(ms) ? Math.trunc(ms) : undefined;
}

function exceptionOf(err: unknown): Readonly<Record<string, unknown>> {
  if (typeof err !== 'object' || err === null) return err === undefined ? {} : { err };
  const { type, message, stack, ...more } = err as Readonly<Record<string, unknown>>;
  return {
    'exception.type': type,
    'exception.message': message,
    'exception.stacktrace': stack,
    ...(Object.keys(more).length > 0 && { err: more }),
  };
}

import { optOut } from '@sallyport/telemetry';
import { resolveSettings } from '../../config/resolve.ts';
import { readSources } from '../../config/settings.ts';
import type { Context } from '../../context.ts';

/** Whether commands report, and the switch that decides it. */
export interface TelemetryState {
  readonly isOn: boolean;
  /** The variable with its value, or the file of the setting, or `default`. */
  readonly decidedBy: string;
}

/** The environment has the last word, and of it what says no. */
export function telemetryState({ flags, env }: Context): TelemetryState {
  const variable = optOut(env);
  if (variable !== undefined) return { isOn: false, decidedBy: variable };
  const { value, origin, from } = resolveSettings(readSources(flags, env)).telemetry;
  return { isOn: value !== 'off', decidedBy: origin === 'user' ? `telemetry in ${from}` : from };
}

/** The same where nothing may go wrong: settings that cannot be read say no. */
export function isTelemetryOn(context: Context): boolean {
  try {
    return telemetryState(context).isOn;
  } catch {
    return false;
  }
}

export function describeState({ isOn, decidedBy }: TelemetryState): string {
  const why = decidedBy === 'default' ? 'the default' : decidedBy;
  return `Telemetry is ${isOn ? 'on' : 'off'}: ${why}.`;
}

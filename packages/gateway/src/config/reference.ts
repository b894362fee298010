import { environmentName, leavesOf } from './load.ts';
import { isReloadable } from './reload.ts';
import { configSchema } from './schema.ts';

/** What is to be known of a setting, whatever its value is somewhere. */
export interface SettingFacts {
  readonly key: string;
  /** The variable of the environment that sets it. */
  readonly variable: string;
  /** `undefined`: there is none, or it follows from other settings. */
  readonly fallback: unknown;
  /** What an error says that it must be. */
  readonly allowed: string;
  /** Whether SIGHUP changes it; others need a restart. */
  readonly isReloadable: boolean;
}

/** Every setting, in the schema's order. `env` says where data is by default. */
export function settingFacts(env?: Readonly<Record<string, string | undefined>>): readonly SettingFacts[] {
  return [...leavesOf(configSchema(env))].map(([key, leaf]) => ({
    key,
    variable: environmentName(key),
    fallback: leaf.parse(undefined),
    allowed: leaf.description ?? '',
    isReloadable: isReloadable(key),
  }));
}

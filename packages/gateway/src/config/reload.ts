import { configFrom, type LoadedConfig, type Setting } from './load.ts';

/** What a running gateway takes over; a name that ends in a dot is a group. */
const reloadable = [
  'areas.',
  'upstream.',
  'upstreams',
  'rateLimits',
  'logLevel',
  'trustProxy',
  'metrics.',
  'oauth.corsOrigins',
] as const;

export function isReloadable(key: string): boolean {
  return reloadable.some((name) => (name.endsWith('.') ? key.startsWith(name) : key === name));
}

export interface Reload {
  /** What the gateway goes on with: settings that need a restart are as they were. */
  readonly loaded: LoadedConfig;
  /** The keys of settings that have changed. */
  readonly changed: readonly string[];
  /** The keys of those that would have, but need a restart. */
  readonly ignored: readonly string[];
}

/** Throws `ConfigError` where what is new does not go with what stays. */
export function mergeReload(current: LoadedConfig, next: LoadedConfig): Reload {
  const before = new Map(current.settings.map((setting) => [setting.key, setting]));
  const changed: string[] = [];
  const ignored: string[] = [];
  const settings = next.settings.map((setting): Setting => {
    const { key } = setting;
    const old = before.get(key) ?? setting;
    if (JSON.stringify(old.value) === JSON.stringify(setting.value)) return old;
    const takes = isReloadable(key);
    (takes ? changed : ignored).push(key);
    return takes ? setting : old;
  });
  return { loaded: configFrom(settings), changed, ignored };
}

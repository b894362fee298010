import { loadConfig, type LoadedConfig } from '../config/load.ts';
import type { ConfigFlags } from './flags.ts';

/** The effective configuration of a command line. */
export function configOf(flags: ConfigFlags): LoadedConfig {
  const { config: file, set, ...named } = flags;
  const { host, port, dataDir, publicUrl, store, upstream, logLevel } = named;
  return loadConfig({
    flags: { ...set, ...defined({ host, port, dataDir, publicUrl, store, upstream, logLevel }) },
    file,
  });
}

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

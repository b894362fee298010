import { loadConfig, type LoadedConfig } from '../config/load.ts';
import type { ConfigFlags } from '../program.ts';

/** The effective configuration of a command line. */
export function configOf(flags: ConfigFlags): LoadedConfig {
  const { host, port, dataDir, publicUrl, store, logLevel, config: file, set } = flags;
  return loadConfig({
    flags: { ...set, ...defined({ host, port, dataDir, publicUrl, store, logLevel }) },
    file,
  });
}

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

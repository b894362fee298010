import { shellWord } from '@sallyport/core';
import type { ConfigFlags } from './flags.ts';

/** A command for the operator to go on with, on the store of the one that `flags` are of, as it can be pasted. */
export function operatorCommand(words: readonly string[], flags: ConfigFlags): string {
  return `\`${['sallyport-gateway', 'admin', ...words].map(shellWord).join(' ')}${sameStore(flags)}\``;
}

/** What a command that works on the same store as this one has to be given, with a space before it. */
function sameStore({ config, dataDir, store }: ConfigFlags): string {
  const given = Object.entries({ '--config': config, '--data-dir': dataDir, '--store': store });
  return given.map(([flag, value]) => (value === undefined ? '' : ` ${flag} ${shellWord(value)}`)).join('');
}

/** ... and one that finds the same upstreams. Callers see it: an address may carry a password. */
export function sameUpstreams({ store: _, ...flags }: ConfigFlags): string {
  return sameStore(flags);
}

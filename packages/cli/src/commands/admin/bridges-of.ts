import { printable } from '../../io/printable.ts';
import { accountName } from '../account-name.ts';
import type { KnownEnvironment } from '../known-environments.ts';

/** What is said before these people, by e-mail address or id, are removed: the bridges of theirs that end with it; else `''`. */
export function bridgesOf(people: readonly string[], environments: readonly KnownEnvironment[]): string {
  const removed = new Set(people.map((each) => each.toLowerCase()));
  const theirs = environments.filter(
    ({ state, bridge, account }) =>
      bridge !== undefined &&
      (state === 'online' || state === 'disconnected') &&
      [account?.id, account?.email].some((name) => removed.has(name?.toLowerCase() ?? '')),
  );
  if (theirs.length === 0) return '';
  const lines = theirs.map((each) =>
    printable(`  ${each.id}  ${each.name}  ${each.directory}  ${accountName(each)}`),
  );
  return `These bridges end, too, with the sessions on them:\n${lines.join('\n')}\n`;
}

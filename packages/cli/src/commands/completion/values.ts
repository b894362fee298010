import type { Candidate, GivenFlags, Named, ValuesNamed } from './complete.ts';
import { profileNames } from './profiles.ts';

/** The values that there are by now; where they cannot be had, a Tab is no place to say why. */
export function valuesNamed(env: NodeJS.ProcessEnv): ValuesNamed {
  return async (kind, flags) =>
    kind === 'profile'
      ? profileNames(env).map((value) => ({ value, says: '' }))
      : idsOf(kind, flags).catch(() => []);
}

async function idsOf(kind: Exclude<Named, 'profile'>, flags: GivenFlags): Promise<readonly Candidate[]> {
  // Most Tabs need none of it.
  const { askForIds } = await import('./ids.ts');
  return askForIds(kind, flags);
}

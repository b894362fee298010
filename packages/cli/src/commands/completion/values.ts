import type { Surroundings } from '../../context.ts';
import type { Candidate, GivenFlags, NamedByGateway, ValuesNamed } from './complete.ts';
import { profileNames } from './profiles.ts';

/** The values that there are by now; where they cannot be had, a Tab is no place to say why. */
export function valuesNamed(surroundings: Surroundings): ValuesNamed {
  return async (kind, flags) =>
    kind === 'profile'
      ? profileNames(surroundings.env).map((value) => ({ value, says: '' }))
      : idsOf(kind, flags, surroundings).catch(() => []);
}

async function idsOf(
  kind: NamedByGateway,
  flags: GivenFlags,
  surroundings: Surroundings,
): Promise<readonly Candidate[]> {
  // Most Tabs need none of it.
  const { askForIds } = await import('./ids.ts');
  return askForIds(kind, flags, surroundings);
}

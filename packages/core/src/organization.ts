/** What an account may be in an organization, the most powerful first. */
export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** The kinds of organization, in neutral words: `inDialect` renders them. */
export const organizationTypes = ['agent_max', 'agent_pro', 'agent_enterprise', 'agent_team'] as const;
export type OrganizationType = (typeof organizationTypes)[number];

/** What a person may name it by; a service of another make may give no name. */
export interface NamedOrganization {
  readonly id: string;
  readonly name?: string | undefined;
}

/**
 * Those that a person means by `given`: the one of that id (a UUID, in either case), else those of that name, whose case counts
 * only where names differ by nothing else. Several: it takes the id to say which.
 */
export function organizationsMeant<T>(
  all: readonly T[],
  given: string,
  naming: (organization: T) => NamedOrganization,
): readonly T[] {
  const wanted = given.trim();
  const of = (isMeant: (organization: NamedOrganization) => boolean) =>
    all.filter((each) => isMeant(naming(each)));
  const byId = of(({ id }) => id === wanted.toLowerCase());
  if (byId.length > 0) return byId;
  const byName = of(({ name }) => name === wanted);
  return byName.length > 0 ? byName : of(({ name }) => name?.toLowerCase() === wanted.toLowerCase());
}

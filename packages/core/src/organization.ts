/** What an account may be in an organization, the most powerful first. */
export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** The kinds of organization, in neutral words: `inDialect` renders them. */
export const organizationTypes = ['agent_max', 'agent_pro', 'agent_enterprise', 'agent_team'] as const;
export type OrganizationType = (typeof organizationTypes)[number];

/** How an environment came to be: by a bridge that registered its directory, or by `env create`. */
export const environmentKinds = ['bridge', 'managed'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

/** How it stands, what can be used first. */
export const environmentStates = ['online', 'disconnected', 'offline', 'archived'] as const;
export type EnvironmentState = (typeof environmentStates)[number];

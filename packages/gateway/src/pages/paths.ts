/** Pages for browsers, which belong to the authorization server: where that is upstream, they are. */
export const pagePaths = [
  '/setup',
  '/login',
  '/logout',
  '/account',
  '/account/password',
  '/device',
  '/consent',
] as const;
export type PagePath = (typeof pagePaths)[number];

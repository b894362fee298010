/** The scopes of the service, in neutral words. */
export const scopes = ['openid', 'profile', 'email', 'vendor_api'] as const;
export type Scope = (typeof scopes)[number];

/** What an API key may have at most: it is no login, so there is nothing of `openid` and `email` in it. */
export const apiKeyScopes = ['profile', 'vendor_api'] as const satisfies readonly Scope[];

/** What each lets a program do. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  openid: 'know that you have an account here',
  profile: 'read your profile and organization',
  email: 'read your e-mail address',
  vendor_api: 'run environments and sessions in your name',
};

/** A line for each, for the help of a command. */
export function scopeLines(of: readonly Scope[]): string {
  const width = Math.max(...of.map((scope) => scope.length));
  return of.map((scope) => `  ${scope.padEnd(width)}  ${scopeMeanings[scope]}`).join('\n');
}

/** A space-separated scope as a list without repeats (RFC 6749 3.3). */
export function scopeList(scope: string): readonly string[] {
  return [...new Set(scope.split(' '))].filter((name) => name !== '');
}

export function isWithin(scope: string, allowed: string): boolean {
  const names = scopeList(allowed);
  return scopeList(scope).every((name) => names.includes(name));
}

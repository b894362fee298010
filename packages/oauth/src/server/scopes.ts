import { inDialect, type Dialect } from '@sallyport/core';
import { scopes } from '@sallyport/core/contract';

/** A space-separated scope as a list without repeats (RFC 6749 3.3). */
export function scopeList(scope: string): readonly string[] {
  return scope.split(' ').filter((name, i, all) => name !== '' && all.indexOf(name) === i);
}

export function isWithin(scope: string, allowed: string): boolean {
  const names = scopeList(allowed);
  return scopeList(scope).every((name) => names.includes(name));
}

export function scopeToWire(scope: string, dialect: Dialect): string {
  return scopeList(scope)
    .map((name) => inDialect(name, dialect))
    .join(' ');
}

/** Names that the service does not know stay as they are: no client is allowed them. */
export function scopeFromWire(scope: string, dialect: Dialect): string {
  return scopeList(scope)
    .map((name) => scopes.find((known) => inDialect(known, dialect) === name) ?? `unknown:${name}`)
    .join(' ');
}

import { inDialect, type Dialect } from '@sallyport/core';
import { scopes } from '@sallyport/core/contract';
import { scopeList } from './scopes.ts';

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

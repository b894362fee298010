import type { Session } from '@sallyport/core/contract';

/** What says who made it, as far as the service tells. */
export interface OfAccount {
  readonly account?: Session['account'] | undefined;
}

/**
 * Who started a session, sent an event or has an environment: by e-mail address where the service names one, else by id; else
 * `''`. Not yet fit for a terminal.
 */
export function accountName({ account }: OfAccount): string {
  return account?.email ?? account?.id ?? '';
}

import {
  ServiceError,
  type Clock,
  type Dialect,
  type Ids,
  type Log,
  type Random,
  type Wakeups,
} from '@sallyport/core';
import type { OAuthConfig } from './config.ts';
import type { CodeTerms } from './code.ts';
import type { DeviceTerms } from './device-grant.ts';
import type { Signer } from './signer.ts';
import type { OAuthStore } from './ports.ts';

/** What the parts of the engine share. */
export interface Context {
  readonly store: OAuthStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Without a slash at its end. */
  readonly issuer: string;
  readonly dialect: Dialect;
  readonly log: Log;
  readonly wakeups: Wakeups;
  readonly config: OAuthConfig;
  readonly signer: Signer;
  /** The key of the refresh tokens' MACs. */
  readonly refreshKey: string;
}

/** A login that could not be renewed any more by then has no access token left, either. */
export function endedBefore({ clock, config }: Pick<Context, 'clock' | 'config'>): number {
  return clock.now() - config.accessTokenSeconds * 1000;
}

/** The terms by which the store's judgements judge. */
export function termsOf(config: OAuthConfig): CodeTerms & DeviceTerms {
  return {
    graceMs: config.refreshGraceSeconds * 1000,
    idleMs: config.refreshIdleSeconds * 1000,
    absoluteMs: config.refreshAbsoluteSeconds * 1000,
    replayMs: config.codeReplaySeconds * 1000,
    intervalMs: config.deviceIntervalSeconds * 1000,
  };
}

/**
 * The members that are sent: RFC 6749 3.2 counts an empty one as left out. Throws `invalid_request` for a value that is no
 * text, as a repeated form field is.
 */
export function sentParameters(
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string | undefined>> {
  const sent: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(body)) {
    if (typeof value !== 'string')
      throw new ServiceError('invalid_request', 'A parameter is not one text.', {
        issues: [{ path: name, message: 'must be sent once, as text' }],
      });
    // RFC 9562 4: a UUID is read in either case.
    if (value !== '') sent[name] = uuids.includes(name) ? value.toLowerCase() : value;
  }
  return sent;
}

const uuids = ['client_id', 'organization_uuid'];

export function missing(name: string): ServiceError {
  return new ServiceError('invalid_request', `${name} is missing.`, {
    issues: [{ path: name, message: 'is required' }],
  });
}

import { systemClock } from '@sallyport/core';
import type { Credentials } from '../store/token-store.ts';
import {
  authorizationUrl,
  beginAuthorization,
  finishAuthorization,
  requireAuthorizationPage,
} from './authorization.ts';
import { discover } from './discovery.ts';
import { interruptible, whileWanted } from './interruption.ts';
import { LoginError } from './login-error.ts';
import { openLoopback } from './loopback.ts';
import type { OAuthOptions } from './oauth-fetch.ts';
import { failed, loggedIn } from './result-page.ts';

export interface BrowserLogin extends OAuthOptions {
  /** Opens the address in the person's browser, or shows it; rejects where that is not possible. */
  readonly openBrowser: (url: string) => Promise<void> | void;
  readonly scope?: string;
  readonly organizationId?: string;
  /** How long the person has. Default 5 minutes. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Logs in with the person's browser: authorization code with PKCE and a loopback redirect (RFC 8252). The page in the
 * browser tells the outcome, and nothing listens any more when this settles.
 *
 * Throws `LoginError` `denied`, `state_mismatch`, `issuer_mismatch`, `timed_out`, `aborted`, `browser_failed`.
 *
 * @example
 * const login = await loginWithBrowser({ baseUrl, transport: undiciTransport(), openBrowser: (url) => open(url) });
 */
export async function loginWithBrowser(login: BrowserLogin): Promise<Credentials> {
  const { timeoutMs = 5 * 60_000, clock = systemClock } = login;
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () =>
    late.abort(new DOMException('no answer in time', 'TimeoutError')),
  );
  const signal = login.signal ? AbortSignal.any([login.signal, late.signal]) : late.signal;
  try {
    return await interruptible(signal, () => throughLoopback(login, signal));
  } finally {
    timer.cancel();
  }
}

async function throughLoopback(login: BrowserLogin, signal: AbortSignal): Promise<Credentials> {
  const server = await discover(login, signal);
  if (server.isAssumed) await requireAuthorizationPage(server, signal);
  const loopback = await openLoopback();
  try {
    const { scope, organizationId } = login;
    const pending = await beginAuthorization(server, {
      redirectUri: loopback.redirectUri,
      scope,
      organizationId,
    });
    const opened = open(login, authorizationUrl(server, pending));
    // Some openers return when the browser ends: only their failure is waited for.
    const redirect = await whileWanted(
      Promise.race([loopback.redirected, opened.then(() => loopback.redirected)]),
      signal,
    );
    const credentials = await finishAuthorization(server, pending, redirect, signal);
    await loopback.answer(loggedIn);
    return credentials;
  } catch (error) {
    await loopback.answer(failed(error));
    throw error;
  } finally {
    await loopback.close();
  }
}

async function open({ openBrowser }: BrowserLogin, url: string): Promise<void> {
  try {
    await openBrowser(url);
  } catch (cause) {
    throw new LoginError('browser_failed', 'No browser could be opened.', { cause });
  }
}

import { reasonOf } from '@sallyport/core';
import { LoginError, logout as endLogin } from '@sallyport/oauth';
import { loginStore, reach, type Reaching } from '../connect.ts';
import type { Context } from '../context.ts';
import { knownLogins, otherLogins, shownLogin } from '../known-logins.ts';
import { printable } from '../io/printable.ts';
import type { Output } from '../io/terminal.ts';

export async function logout(context: Context): Promise<Output> {
  const { settings, terminal } = context;
  const { loginKey } = loginStore(context);
  const ended = await endStoredLogin(context, context.interrupt.asked);
  const removed = ended.logged_out;
  if (!removed) {
    const others = otherLogins(await knownLogins(settings), loginKey);
    if (others !== '') terminal.note(others);
  }
  if (settings.token !== undefined)
    terminal.note('SALLYPORT_TOKEN is set: commands go on with it until you unset it.');
  const login = shownLogin(loginKey);
  const human = removed ? `Logged out of ${login}.` : `There was no login for ${login}.`;
  return { json: { base_url: settings.baseUrl, ...ended }, human };
}

/** Ends the login that is stored for these settings; where the gateway cannot be told, the person is. */
export async function endStoredLogin(
  reaching: Reaching,
  signal: AbortSignal,
): Promise<{ readonly logged_out: boolean; readonly revoked: boolean }> {
  const { store, loginKey: key } = loginStore(reaching);
  const { removed, failure } = await endLogin({ ...reach(reaching), store, key, signal });
  const { baseUrl } = reaching.settings;
  if (failure && isDamaged(failure))
    reaching.terminal.note(
      `What was stored was not a whole login any more, and is removed. ${baseUrl} could not be told: the login holds there until it expires.`,
    );
  else if (failure)
    reaching.terminal.note(
      `${baseUrl} could not be told (${printable(reasonOf(failure)).replace(/\.$/, '')}); the login holds there until it expires.`,
    );
  return { logged_out: removed, revoked: removed && failure === undefined };
}

function isDamaged(failure: Error): boolean {
  return failure instanceof LoginError && failure.code === 'store_corrupt';
}

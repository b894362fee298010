import { logout as endLogin } from '@sallyport/oauth';
import { loginStore, reach } from '../connect.ts';
import type { Context } from '../context.ts';
import { knownLogins, otherLogins } from '../known-logins.ts';
import { printable } from '../io/printable.ts';
import type { Output } from '../io/terminal.ts';

export async function logout(context: Context): Promise<Output> {
  const { baseUrl } = context.settings;
  const { store, loginKey } = loginStore(context);
  const { removed, failure } = await endLogin({
    ...reach(context),
    store,
    key: loginKey,
    signal: context.interrupt.asked,
  });
  if (failure) {
    context.terminal.note(
      `${baseUrl} could not be told (${printable(failure.message)}); the login holds there until it expires.`,
    );
  }
  if (!removed) {
    const others = otherLogins(await knownLogins(context.settings), baseUrl);
    if (others !== '') context.terminal.note(others);
  }
  const human = removed ? `Logged out of ${baseUrl}.` : `There was no login for ${baseUrl}.`;
  return {
    json: { base_url: baseUrl, logged_out: removed, revoked: removed && failure === undefined },
    human,
  };
}

import { logout as endLogin } from '@sallyport/oauth';
import { loginStore, reach } from '../connect.ts';
import type { Context } from '../context.ts';
import { knownLogins, otherLogins, shownLogin } from '../known-logins.ts';
import { printable } from '../io/printable.ts';
import type { Output } from '../io/terminal.ts';

export async function logout(context: Context): Promise<Output> {
  const { settings, terminal } = context;
  const { baseUrl } = settings;
  const { store, loginKey } = loginStore(context);
  const { removed, failure } = await endLogin({
    ...reach(context),
    store,
    key: loginKey,
    signal: context.interrupt.asked,
  });
  if (failure) {
    terminal.note(
      `${baseUrl} could not be told (${printable(failure.message)}); the login holds there until it expires.`,
    );
  }
  if (!removed) {
    const others = otherLogins(await knownLogins(settings), loginKey);
    if (others !== '') terminal.note(others);
  }
  if (settings.token !== undefined)
    terminal.note('SALLYPORT_TOKEN is set: commands go on with it until you unset it.');
  const login = shownLogin(loginKey);
  const human = removed ? `Logged out of ${login}.` : `There was no login for ${login}.`;
  return {
    json: { base_url: baseUrl, logged_out: removed, revoked: removed && failure === undefined },
    human,
  };
}

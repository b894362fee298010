import { createClient } from '@sallyport/core/client';
import type { Credentials } from '@sallyport/oauth';
import { loginStore, tokensOf } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { toFailure } from '../../io/failure.ts';
import { span } from '../../io/span.ts';
import { loginCommand, shownLogin } from '../../known-logins.ts';
import { fail, failed, ok, warn, type Finding } from './finding.ts';
import { patienceMs, type Reached } from './service.ts';

/** What is there to log in with, without asking anybody. `mayLogIn`: whether a login could be made here. */
export async function login(context: Context, mayLogIn = true): Promise<Finding> {
  const { clock, settings } = context;
  if (settings.token !== undefined) {
    const expiresAt = expiryOf(settings.token);
    if (expiresAt !== undefined && expiresAt <= clock.now())
      return fail(
        `the token in SALLYPORT_TOKEN expired ${span(clock.now() - expiresAt)} ago`,
        'Set it to a valid token, or unset it to use the stored login.',
      );
    const until = expiresAt === undefined ? '' : `, for ${span(expiresAt - clock.now())} more`;
    return ok(`SALLYPORT_TOKEN is used over any stored login${until}`);
  }
  const { store, loginKey } = loginStore(context);
  const stored = await store.load(loginKey);
  if (stored === undefined)
    return warn(
      `there is no login for ${shownLogin(loginKey)}`,
      mayLogIn ? `Run: ${loginCommand(settings)}` : 'See to what fails above first.',
    );
  const fix = `Run: ${loginCommand(settings)}`;
  return describe(stored, (await store.whereIs(loginKey)) ?? '', clock.now(), fix);
}

/** Whether the service takes it; a token that has run out is renewed on the way, as for any command. */
export async function account(context: Context, reached: Reached): Promise<Finding> {
  const client = createClient({ ...reached, tokens: tokensOf(context, reached) });
  try {
    const { account: of, organization } = await client.oauth.profile({
      signal: context.interrupt.asked,
      timeoutMs: patienceMs,
    });
    const who = of?.email ?? 'an account without a name';
    return ok(`the service knows ${who} (${organization.name ?? organization.uuid ?? 'no organization'})`);
  } catch (error) {
    return failed(error, toFailure(error, context).nextStep);
  }
}

function describe(
  { expiresAt, refreshToken }: Credentials,
  where: string,
  now: number,
  fix: string,
): Finding {
  const stored = `a login is in ${where}`;
  if (expiresAt > now) return ok(`${stored}; its access token holds for ${span(expiresAt - now)}`);
  return refreshToken === undefined
    ? fail(`the login in ${where} expired ${span(now - expiresAt)} ago and cannot be renewed`, fix)
    : ok(`${stored}; its access token has run out and is renewed at the next call`);
}

/** The expiry in a JWT (RFC 7519 4.1.4); nothing else of it is looked at. */
function expiryOf(token: string): number | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

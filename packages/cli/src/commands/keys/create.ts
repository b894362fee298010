import { inDialect } from '@sallyport/core';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { advising } from '../../io/next-step.ts';
import type { Output } from '../../io/terminal.ts';

const dayMs = 86_400_000;
/** What the service takes (`expires_in` of the contract). */
const longestMs = 3650 * dayMs;

const byStoredLogin =
  'Unset SALLYPORT_TOKEN to make the key with the stored login; where there is none: sallyport login';

export interface KeysCreateOptions {
  readonly name?: string;
  readonly scope: readonly string[];
  /** Milliseconds. */
  readonly expires?: number;
}

export async function keysCreate(context: Context, options: KeysCreateOptions): Promise<Output> {
  const { name, scope: scopes, expires } = options;
  if (expires !== undefined && expires > longestMs)
    throw new CommandError(
      'usage',
      `A key holds for at most ${longestMs / dayMs} days.`,
      exitCodes.usage,
      'Leave --expires out for one that holds until it is revoked.',
    );
  const { client } = await logIn(context);
  const scope = scopes.map((each) => inDialect(each, context.settings.dialect)).join(' ');
  const body = {
    ...(name !== undefined && { name }),
    ...(scope !== '' && { scope }),
    ...(expires !== undefined && { expires_in: expires / 1000 }),
  };
  const creating = client.oauth.createApiKey({
    // The specification shows no body: where nothing is asked for, none is sent.
    ...(Object.keys(body).length > 0 && { body }),
    signal: context.interrupt.asked,
  });
  const key = await advising(creating, {
    ...(context.settings.token !== undefined && { forbidden: byStoredLogin }),
    invalid_scope: "Leave --scope out: the key then has your login's, as far as a key may.",
  });
  context.terminal.note('Keep the key now: it is not shown again.');
  return { json: { api_key: key, ...body }, human: key };
}

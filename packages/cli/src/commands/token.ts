import { toTimestamp } from '@sallyport/core';
import { logIn } from '../connect.ts';
import type { Context } from '../context.ts';
import type { Output } from '../io/terminal.ts';

/** Prints the token alone: scripts put it into a header. */
export async function token(context: Context): Promise<Output> {
  const { tokens, store, loginKey } = await logIn(context);
  const accessToken = await tokens.token({ signal: context.interrupt.asked });
  const stored = context.settings.token === undefined ? await store.load(loginKey) : undefined;
  return {
    json: {
      access_token: accessToken,
      token_type: 'Bearer',
      base_url: context.settings.baseUrl,
      ...(stored && { expires_at: toTimestamp(stored.expiresAt) }),
    },
    human: accessToken,
  };
}

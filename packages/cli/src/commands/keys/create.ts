import { inDialect } from '@sallyport/core';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';

export interface KeysCreateOptions {
  readonly name?: string;
  readonly scope: readonly string[];
  /** Seconds. */
  readonly expires?: number;
}

export async function keysCreate(context: Context, options: KeysCreateOptions): Promise<Output> {
  const { name, scope: scopes, expires } = options;
  const { client } = await logIn(context);
  const scope = scopes.map((each) => inDialect(each, context.settings.dialect)).join(' ');
  const body = {
    ...(name !== undefined && { name }),
    ...(scope !== '' && { scope }),
    ...(expires !== undefined && { expires_in: expires / 1000 }),
  };
  const key = await client.oauth.createApiKey({
    // The specification shows no body: where nothing is asked for, none is sent.
    ...(Object.keys(body).length > 0 && { body }),
    signal: context.interrupt.asked,
  });
  context.terminal.note('Keep the key now: it is not shown again.');
  return { json: { api_key: key, ...body }, human: key };
}

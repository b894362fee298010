import { inDialect } from '@sallyport/core';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { advising } from '../../io/next-step.ts';
import { printable } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';
import { forLogins } from './for-admins.ts';

export interface ClientAddOptions {
  readonly name: string;
  readonly redirectUri: readonly string[];
  readonly scope: readonly string[];
}

/** `admin clients add`. */
export async function clientAdd(context: Context, options: ClientAddOptions): Promise<Output> {
  const { name, redirectUri, scope } = options;
  const { client } = await logIn(context);
  const adding = client.admin.addClient({
    body: {
      client_name: name,
      redirect_uris: [...redirectUri],
      ...(scope.length > 0 && {
        scope: scope.map((each) => inDialect(each, context.settings.dialect)).join(' '),
      }),
    },
    signal: context.interrupt.asked,
  });
  const added = await advising(adding, forLogins(context.settings));
  return { json: added, human: printable(`${added.client_name} is registered as ${added.client_id}.`) };
}

import { pages, type ClientOptions } from '@sallyport/core/client';
import type { contract, InputFor, ResponseOf } from '@sallyport/core/contract';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { advising } from '../../io/next-step.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import type { CommandAct } from '../act.ts';
import { take, type TakeOptions } from '../take.ts';
import { forAdmins } from './for-admins.ts';

type Admin = (typeof contract)['admin'];
type Lists = 'listPeople' | 'listApiKeys' | 'listDevices' | 'listLogins' | 'listSignIns' | 'listClients';
type Listed = Admin[Lists];
type ItemOf<E extends Listed> = ResponseOf<E> extends readonly (infer Item)[] ? Item : never;

/** How a person sees what one of the administration's lists has. */
export interface Columns<Item> {
  readonly header: readonly string[];
  readonly row: (item: Item, now: number) => readonly string[];
  /** What to say where there is none. */
  readonly none: string;
}

/** The command that shows one of the administration's lists. */
export function listing<E extends Listed>(
  endpoint: E,
  { header, row, none }: Columns<ItemOf<E>>,
): CommandAct<TakeOptions> {
  return async (context, options): Promise<Output> => {
    const { clientOptions } = await logIn(context);
    const taking = take(context, options, (limit) => bodies(context, clientOptions, endpoint, limit));
    const items = await advising(taking, forAdmins);
    const now = context.clock.now();
    const rows = items.map((item) => row(item, now));
    return {
      json: items,
      human: rows.length === 0 ? none : table(header, rows, context.terminal.widthOf('out')),
    };
  };
}

/** The pages of such a list. */
export async function* bodies<E extends Listed>(
  { interrupt }: Pick<Context, 'interrupt'>,
  clientOptions: ClientOptions,
  endpoint: E,
  limit: number,
): AsyncGenerator<readonly ItemOf<E>[]> {
  const input = { query: { limit } } as InputFor<E>;
  for await (const { body } of pages(clientOptions, endpoint, input, { signal: interrupt.asked }))
    yield body as readonly ItemOf<E>[];
}

import type { Context } from '../context.ts';
import { confirm } from '../io/confirm.ts';
import { printable } from '../io/printable.ts';

interface Known {
  readonly id: string;
  readonly name: string | null;
}

interface Lookup {
  readonly all: readonly Known[];
  readonly kind: { readonly one: string; readonly many: string };
}

/** Asks about those of `ids` that there are, in the words of `question`; where there is none, there is nothing to ask about. */
export async function confirmKnown(
  context: Context,
  ids: readonly string[],
  { all, kind }: Lookup,
  question: (what: string) => string,
): Promise<void> {
  const [first, ...others] = all.filter(({ id }) => ids.includes(id));
  if (first === undefined) return;
  const name = first.name === null ? '' : ` (${printable(first.name)})`;
  const what = others.length === 0 ? `${kind.one} ${first.id}${name}` : `${others.length + 1} ${kind.many}`;
  await confirm(context, question(what));
}

import { htmlEscape } from 'escape-goat';

/** Markup that is safe to send: only `html` makes it. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[] | undefined;

/** Markup with parts in it: text is escaped, markup is not, `undefined` is nothing. Attributes must be quoted. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: template.map((text, index) => text + render(parts[index])).join('') };
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return htmlEscape(String(part));
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('');
}

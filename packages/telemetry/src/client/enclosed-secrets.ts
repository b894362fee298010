import { escapes, secretWords } from './secret-names.ts';

/** Where a list or an object of secrets begins: `"tokens": [`, and the same within JSON strings in JSON strings. */
const opening = new RegExp(
  `(?:${secretWords})[\\w-]{0,32}${escapes}["']?\\s{0,4}[:=]>?\\s{0,4}${escapes}(?=[[{])`,
  'gi',
);

/** Lists and objects of secrets as one word each: up to their ends, or to that of their line. */
export function hideEnclosed(text: string, hidden: string): string {
  let kept = '';
  let from = 0;
  opening.lastIndex = 0;
  while (opening.test(text)) {
    kept += text.slice(from, opening.lastIndex) + hidden;
    from = opening.lastIndex = endOfEnclosed(text, opening.lastIndex).at;
  }
  return kept + text.slice(from);
}

/** Whether one goes on below the line. */
export function isLeftOpen(line: string): boolean {
  opening.lastIndex = 0;
  while (opening.test(line)) {
    const { at, isClosed } = endOfEnclosed(line, opening.lastIndex);
    if (!isClosed) return true;
    opening.lastIndex = at;
  }
  return false;
}

/** Behind the bracket that closes the one at `start`; those in quotes do not count. */
function endOfEnclosed(text: string, start: number): { readonly at: number; readonly isClosed: boolean } {
  let depth = 0;
  let quote = '';
  let at = start;
  for (; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '\n' || character === '\r') break;
    if (character === '\\') at++;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '[' || character === '{') depth++;
    else if ((character === ']' || character === '}') && --depth === 0) return { at: at + 1, isClosed: true };
  }
  return { at, isClosed: false };
}

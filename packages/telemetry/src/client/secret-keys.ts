/** Keys that tell what they are: how they begin, and what follows that, as parts of regular expressions. */
const forms = [
  ['sk-', '[\\w-]+'],
  // Of the service itself: session keys, codes, tokens of devices, refresh tokens.
  ['sp[a-z]_', '[\\w-]{16,}(?:\\.[\\w-]+){0,2}'],
  ['eyJ', '[\\w-]{8,}(?:\\.[\\w-]*){0,2}'],
  ['(?:AKIA|ASIA)', '[A-Z0-9]{16}'],
  ['gh[pousr]_', '\\w{20,}'],
  ['github_pat_', '\\w{20,}'],
  ['glpat-', '[\\w-]{20,}'],
  ['npm_', '\\w{20,}'],
  ['xox[a-z]-', '[\\w-]{10,}'],
  ['AIza', '[\\w-]{35}'],
  ['[sr]k_(?:live|test)_', '\\w{16,}'],
  ['hf_', '\\w{30,}'],
] as const;

const starts = forms.map(([start]) => start);
/** How those begin that have no hyphen there, as a part of a regular expression. */
export const keyStarts = starts.filter((start) => !start.endsWith('-')).join('|');

/** The keys in a text. */
export const secretKeys = new RegExp(`\\b(?:${forms.map((form) => form.join('')).join('|')})`, 'g');

/** What names of secrets have in them, as a part of a regular expression. */
export const secretWords =
  'authorization|cookie|token|secret|passw|api[-_]?key|private[-_]?key|session[-_]?key|credential';

export const secretName = new RegExp(secretWords, 'i');

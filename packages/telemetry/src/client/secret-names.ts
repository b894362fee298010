/** What names of secrets have in them, as a part of a regular expression. */
export const secretWords =
  'authorization|cookie|token|secret|passw|passphrase|_pass(?![a-z])|_pwd|credential|(?<![a-z])auth(?![\\w-])|' +
  '(?:access|account|api|encryption|master|private|session|shared|signing)[-_]?key';

export const secretName = new RegExp(secretWords, 'i');

/** Before a quote, or a bracket, in a JSON string within JSON strings, as a part of a regular expression. */
export const escapes = String.raw`\\{0,31}`;

/**
 * Text as it is compared in any case: Unicode's, one form for composed and decomposed letters. Character by character, for
 * the lower case of a sigma depends on what follows; upper case first, so that `ß` is `ss`.
 */
export function foldCase(text: string): string {
  const characters = Array.from(text.normalize('NFC').toUpperCase(), (character) => character.toLowerCase());
  return characters.join('').normalize('NFC');
}

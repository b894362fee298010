import { isLeftOpen } from './enclosed-secrets.ts';
import { secretName, secretWords } from './secret-names.ts';

// Lists, objects and blocks of secrets that are printed over several lines: alone, the lines of one look like nothing. What is
// remembered from line to line is where the one began.

/** A name whose value is on the lines below: `tokens:`, `key: |`. */
const nameAlone = new RegExp(
  `^\\s{0,256}(?:- )?["']?[\\w-]{0,64}(?:${secretWords})[\\w-]{0,64}["']?:\\s{0,8}(?:[|>][-+\\d]{0,2}\\s{0,8})?$`,
  'i',
);
/** An option whose value is the next item: `"--token",`. */
const optionAlone = new RegExp(
  `^\\s{0,256}(?:- )?["']?--?[\\w-]{0,64}(?:${secretWords})[\\w-]{0,64}["']?,?\\s{0,8}$`,
  'i',
);
const anotherOption = /^\s*(?:- )?["']?--?\w/;
/** An item of a list, whose indentation need not be deeper than that of the list's name. */
const item = /^\s*(?:["']|- )/;

/** Asked for one line after the other, tells which belong to a secret that was named on a line before. */
export function createSecretLines(): (line: string) => boolean {
  /** Of the line where the secrets began that go on now. */
  let indentation: number | undefined;
  let isValueNext = false;
  return (line) => {
    const isValue = isValueNext && !anotherOption.test(line);
    isValueNext = false;
    if (isValue) return true;
    const own = line.length - line.trimStart().length;
    if (indentation !== undefined) {
      if (own === line.length) return false; // blank
      if (own > indentation || item.test(line)) return true;
      indentation = undefined;
    }
    if (!secretName.test(line)) return false;
    if (nameAlone.test(line) || isLeftOpen(line)) indentation = own;
    else isValueNext = optionAlone.test(line);
    return false;
  };
}

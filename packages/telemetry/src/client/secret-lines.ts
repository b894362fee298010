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
/** `name: DB_PASSWORD`, whose value is on the next line, as `value: x`. */
const nameGiven = new RegExp(
  `^\\s{0,256}(?:- )?["']?(?:name|key)["']?\\s{0,8}[:=]\\s{0,8}["']?[\\w.-]{0,64}(?:${secretWords})[\\w.-]{0,64}["']?,?\\s{0,8}$`,
  'i',
);
const valueGiven = /^\s*["']?value["']?\s*[:=]/i;
/** Of Kubernetes: a secret is known by its kind, which is printed before its data or behind it. */
const kind = /^\s*(?:- )?kind:\s*["']?(\w+)/;
const dataAlone = /^\s*(?:stringData|data):\s*$/;
const stringDataAlone = /^\s*stringData:/;
const inBase64 =
  /:\s+["']?(?=\S*[A-Z\d=])(?:[A-Za-z\d+/]{4})+(?:[A-Za-z\d+/]{4}|[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)["']?\s*$/;
const anotherOption = /^\s*(?:- )?["']?--?\w/;
/** An item of a list, whose indentation need not be deeper than that of the list's name. */
const item = /^\s*(?:["']|- )/;

/** Asked for one line after the other, tells which belong to a secret that was named on a line before. */
export function createSecretLines(): (line: string) => boolean {
  /** Of the line where the secrets began that go on now. */
  let indentation: number | undefined;
  /** Of the line where data began of which nobody knows whether it is one's. */
  let dataIndentation: number | undefined;
  let isOfSecret = false;
  let isItemNext = false;
  let isValueNext = false;
  return (line) => {
    const own = line.length - line.trimStart().length;
    const isItem = isItemNext && !anotherOption.test(line);
    const isValue = isValueNext && valueGiven.test(line);
    isItemNext = isValueNext = false;
    if (isValue) indentation = own; // which may go on below
    if (isItem || isValue) return true;
    if (own === line.length) return false; // blank
    if (indentation !== undefined) {
      if (own > indentation || item.test(line)) return true;
      indentation = undefined;
    }
    if (dataIndentation !== undefined) {
      if (own > dataIndentation) return inBase64.test(line);
      dataIndentation = undefined;
    }
    const [, given] = kind.exec(line) ?? [];
    if (given !== undefined || line.startsWith('---')) isOfSecret = given === 'Secret';
    if (dataAlone.test(line)) {
      if (isOfSecret || stringDataAlone.test(line)) indentation = own;
      else dataIndentation = own;
    }
    if (!secretName.test(line)) return false;
    if (nameAlone.test(line) || isLeftOpen(line)) indentation = own;
    else if (nameGiven.test(line)) isValueNext = true;
    else isItemNext = optionAlone.test(line);
    return false;
  };
}

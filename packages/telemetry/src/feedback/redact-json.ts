import { hidden, type Redactor } from '../client/redact.ts';
import { isSecretBehind } from '../client/secret-names.ts';

/** An object or a list, while it is open. */
interface Place {
  readonly start: number;
  readonly isObject: boolean;
  /** It is a secret, or within one. */
  readonly isHidden: boolean;
  /** The member whose value comes next; without one, a member's name does. */
  name?: string | undefined;
  /** What the value that comes next is. */
  isSecretNext: boolean;
  /** A member `name` or `key` says that the member `value` is a secret: so OTLP has attributes, and HAR headers. */
  isOfSecret: boolean;
}

const hiddenJson = JSON.stringify(hidden);

/** A JSON text without secrets that is JSON still; but for those it stays as it is, to the digit and the blank. */
export function redactJson(
  text: string,
  redactor: Redactor,
): { readonly text: string; readonly redactedLines: number } {
  const around: Place[] = [];
  let place = openPlace(0, false, false);
  let kept = '';
  let keptTo = 0;
  let redactedLines = 0;

  function replace(start: number, end: number, by: string): void {
    // A line in which two are replaced counts once.
    if (keptTo === 0 || text.slice(keptTo, start).includes('\n')) redactedLines += 1;
    redactedLines += text.slice(start, end).split('\n').length - 1;
    kept += text.slice(keptTo, start) + by;
    keptTo = end;
  }

  function replaceText(start: number, end: number, value: string): void {
    const shown = redactor.text(value);
    if (shown !== value) replace(start, end, JSON.stringify(shown));
  }

  /** Where another member names the secret, its value's own name says nothing. */
  function isHidden(value: string): boolean {
    const { name = '', isSecretNext } = place;
    return isSecretNext && (!redactor.isSecret(name) || redactor.isSecret(name, value));
  }

  function takeName(start: number, end: number): void {
    const name = JSON.parse(text.slice(start, end)) as string;
    place.name = name;
    place.isSecretNext = redactor.isSecret(name) || (place.isOfSecret && name === 'value');
    replaceText(start, end, name);
  }

  function takeString(start: number, end: number): void {
    const value = JSON.parse(text.slice(start, end)) as string;
    if (isHidden(value)) replace(start, end, hiddenJson);
    else replaceText(start, end, value);
    if (place.name === 'name' || place.name === 'key') place.isOfSecret = redactor.isSecret(value);
    place.isSecretNext = !place.isObject && isSecretBehind(value);
  }

  for (let start = 0, end = 0; start < text.length; start = end) {
    end = endOfToken(text, start);
    const first = text[start] ?? '';
    if (first === '{' || first === '[') {
      const isHidden = place.isHidden || place.isSecretNext;
      place.isSecretNext = false;
      around.push(place);
      place = openPlace(start, first === '{', isHidden);
    } else if (first === '}' || first === ']') {
      const closed = place;
      place = around.pop() ?? place;
      if (closed.isHidden && !place.isHidden) replace(closed.start, end, hiddenJson);
    } else if (first === ',') place.name = undefined;
    else if (place.isHidden) continue;
    else if (first === '"' && place.isObject && place.name === undefined) takeName(start, end);
    else if (first === '"') takeString(start, end);
    else if (/[-\d]/.test(first)) {
      if (isHidden(text.slice(start, end))) replace(start, end, hiddenJson);
      place.isSecretNext = false;
    }
  }
  return { text: kept + text.slice(keptTo), redactedLines };
}

function openPlace(start: number, isObject: boolean, isHidden: boolean): Place {
  return { start, isObject, isHidden, isSecretNext: false, isOfSecret: false };
}

const scalar = /[-+.\w]+/y;

/** Behind the string, number or word that begins at `start`; else behind the one character. */
function endOfToken(text: string, start: number): number {
  if (text[start] !== '"') {
    scalar.lastIndex = start;
    return scalar.test(text) ? scalar.lastIndex : start + 1;
  }
  // No expression: one that repeats over an escape overflows the stack with a string of megabytes.
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

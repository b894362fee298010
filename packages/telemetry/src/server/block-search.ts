import { isAscii } from 'node:buffer';
import type { BlockForm, RecordFilter } from './ports.ts';

// Whether a block may have a text or an id is seen in its bytes, some times as quickly as they are decoded. Only what is
// written in one way can be looked for so; where there may be another, the answer is yes, and the records are looked at.

/** Signs that no encoding writes otherwise, but for the escapes that `json` is looked through for. */
const plain = /^[\w .:,;@=+()/-]+$/;
/** Of what a number, a boolean or one of the doubles that are none may read as, in lower case. */
const ofNumbers = /^[\d.e+-]*$/;
const names = ['true', 'false', 'nan', 'infinity', '-infinity'];
/** Letters beyond ASCII become these, and another one, in lower case: the Kelvin sign and the dotted I. */
const hasRelatives = /[ki]/;

export function mayHold(form: BlockForm, content: Uint8Array, filter: RecordFilter): boolean {
  const { attributes = [], text, traceId } = filter;
  const sought = text?.toLowerCase();
  const literals = attributes.flatMap(({ key, value, exact }) =>
    [key, ...(exact || !readsAsNumber(value.toLowerCase()) ? [value] : [])].filter((of) => plain.test(of)),
  );
  const isPlainText = sought !== undefined && plain.test(sought) && !readsAsNumber(sought);
  if (literals.length === 0 && !isPlainText && traceId === undefined) return true;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (form === 'json' && (bytes.includes('\\u') || bytes.includes('\\/'))) return true;
  if (literals.some((literal) => !bytes.includes(literal))) return false;
  if (traceId !== undefined && form === 'protobuf' && !bytes.includes(traceId, 'hex')) return false;
  const isFolded = isPlainText && (!hasRelatives.test(sought) || isAscii(bytes));
  const isId = traceId !== undefined && form !== 'protobuf';
  if (!isFolded && !isId) return true;
  const folded = bytes.toString('latin1').toLowerCase();
  return (!isFolded || folded.includes(sought)) && (!isId || folded.includes(traceId));
}

function readsAsNumber(lowerCase: string): boolean {
  return ofNumbers.test(lowerCase) || names.some((name) => name.includes(lowerCase));
}

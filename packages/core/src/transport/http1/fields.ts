/** An answer that is not HTTP, or that others may read in another way. */
export class MalformedAnswer extends Error {
  constructor(what: string) {
    super(`The server's answer ${what}.`);
  }
}

/** RFC 9110 5.6.2. */
export const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const inName = 1;
const inValue = 2;
/** Which characters may stand where, by their code: a table is several times as fast as a pattern for each line. */
const kinds = Uint8Array.from({ length: 256 }, (_none, code) => {
  const isText = code === 0x09 || (code >= 0x20 && code !== 0x7f);
  return (token.test(String.fromCharCode(code)) ? inName : 0) | (isText ? inValue : 0);
});
const tab = 0x09;
const space = 0x20;
const colon = 0x3a;
const cr = 0x0d;
const lf = 0x0a;

/** Where the line that begins at `from` ends. Throws where it has control characters, or ends oddly (RFC 9112 2.2). */
export function lineEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && ((kinds[text.charCodeAt(at)] ?? 0) & inValue) !== 0) at++;
  if (at < text.length && (text.charCodeAt(at) !== cr || text.charCodeAt(at + 1) !== lf))
    throw new MalformedAnswer('has control characters, or lines that end oddly');
  return at;
}

/**
 * The fields in the lines of `text` from `from` on, flat. No name is guessed at: a line that is folded, or has a space
 * before its colon, is refused (RFC 9112 5).
 */
export function fieldsOf(text: string, from: number): string[] {
  const fields: string[] = [];
  for (let at = from; at < text.length;) {
    let nameEnd = at;
    while (((kinds[text.charCodeAt(nameEnd)] ?? 0) & inName) !== 0) nameEnd++;
    if (nameEnd === at || text.charCodeAt(nameEnd) !== colon)
      throw new MalformedAnswer('has a header line that is none');
    const end = lineEnd(text, nameEnd + 1);
    fields.push(text.slice(at, nameEnd), valueOf(text, nameEnd + 1, end));
    at = end + 2;
  }
  return fields;
}

/** Not `trim`, which would take a no-break space for one. */
function valueOf(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

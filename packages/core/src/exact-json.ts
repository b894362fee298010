/**
 * `JSON.parse` that loses no digit: an integer that a double cannot hold exactly comes as its own text, which the rules for
 * 64-bit integers take as well. Most senders write such numbers as text themselves.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(mayLoseDigits(text) ? quoteLargeIntegers(text) : text);
}

/** Whether a JSON text may have a number whose digits a double cannot hold, or one that is written with an exponent. */
export function mayLoseDigits(text: string): boolean {
  return /(?:^|[:[,])\s*-?(?:[\d.]{16}|[\d.]+[eE])/.test(text);
}

/** In the text, before it is parsed: a reviver does the same, but takes ten times as long, and for everything else in it, too. */
function quoteLargeIntegers(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfText(text, at);
    else if (code === 0x2d || isDigit(code)) {
      const end = endOfNumber(text, at);
      if (isLarge(text, at, end)) {
        parts.push(text.slice(from, at), text.slice(at, end));
        from = end;
      }
      at = end - 1;
    }
  }
  parts.push(text.slice(from));
  return parts.join('"');
}

function endOfText(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) break;
  }
  return at;
}

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isOfNumber[text.charCodeAt(at)] === 1) at++;
  return at;
}

const isOfNumber = new Uint8Array(128);
for (const sign of '0123456789.eE+-') isOfNumber[sign.charCodeAt(0)] = 1;

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Whether it is a number, and not in the place of a member's name: what is no JSON must not become some. */
function isLarge(text: string, from: number, to: number): boolean {
  const source = text.slice(from, to);
  if (source.length < 16 && !/[eE]/.test(source)) return false;
  const value = Number(source);
  return (
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(source) &&
    !isBeforeColon(text, to)
  );
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at++;
  return text.charCodeAt(at) === 0x3a;
}

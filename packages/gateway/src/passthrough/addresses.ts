import type { Endpoint } from '@sallyport/core/contract';
import { unfit } from './failures.ts';

/** Puts this gateway's address in place of the upstream's, in the members that the row has marked as such. */
export type Readdress = (body: Buffer) => Buffer;

/**
 * `publicUrl`: where clients reach this gateway; `basePath`: what comes before every path of the upstream, and of none here.
 * `undefined`: the row gives out no addresses.
 */
export function readdressing(
  { addresses }: Pick<Endpoint, 'addresses'>,
  { publicUrl, basePath }: { readonly publicUrl: string; readonly basePath: string },
): Readdress | undefined {
  if (addresses === undefined) return undefined;
  return (body) => {
    const text = body.toString();
    checkJson(text);
    const here = withMembers(text, (name, given) =>
      Object.hasOwn(addresses, name)
        ? addresses[name] === 'base'
          ? publicUrl
          : socketHere(given, publicUrl, basePath)
        : given,
    );
    return here === text ? body : Buffer.from(here);
  };
}

/** A worker that is sent past the gateway would go unseen: better no answer than that one. */
function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (cause) {
    throw unfit('is not JSON, so the addresses in it cannot be rewritten', cause);
  }
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]|[^\s"{}[\]:]+/g;

/**
 * The text of a JSON value with other strings as the members of its object. All else stays as it is written: read and
 * written anew, large numbers would be other ones.
 */
function withMembers(text: string, change: (name: string, given: string) => string): string {
  let depth = 0;
  let name = '';
  let before = '';
  return text.replace(tokens, (token) => {
    const isValue = before === ':';
    before = token;
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (depth !== 1 || !token.startsWith('"')) return token;
    const said = JSON.parse(token) as string;
    if (!isValue) name = said;
    const changed = isValue ? change(name, said) : said;
    return changed === said ? token : JSON.stringify(changed);
  });
}

function socketHere(given: string, publicUrl: string, basePath: string): string {
  const url = URL.parse(given);
  // Of another scheme what follows need be no path, and would be read as part of this gateway's host.
  if (url === null || !/^(ws|http)s?:$/.test(url.protocol))
    throw unfit('has an address that is none, so it cannot be rewritten');
  const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : url.pathname;
  return publicUrl.replace(/^http/, 'ws') + path + url.search;
}

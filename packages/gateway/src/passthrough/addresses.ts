import { isJsonObject } from '@sallyport/core';
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
  const members = Object.entries(addresses);
  return (body) => {
    const answer = parse(body);
    if (!isJsonObject(answer)) return body;
    const here: Record<string, string> = {};
    for (const [name, kind] of members) {
      const given = answer[name];
      if (typeof given !== 'string') continue;
      here[name] = kind === 'base' ? publicUrl : socketHere(given, publicUrl, basePath);
    }
    return Object.keys(here).length === 0 ? body : Buffer.from(JSON.stringify({ ...answer, ...here }));
  };
}

/** A worker that is sent past the gateway would go unseen: better no answer than that one. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch (cause) {
    throw unfit('is not JSON, so the addresses in it cannot be rewritten', cause);
  }
}

function socketHere(given: string, publicUrl: string, basePath: string): string {
  const url = URL.parse(given);
  // Of another scheme what follows need be no path, and would be read as part of this gateway's host.
  if (url === null || !/^(ws|http)s?:$/.test(url.protocol))
    throw unfit('has an address that is none, so it cannot be rewritten');
  const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : url.pathname;
  return publicUrl.replace(/^http/, 'ws') + path + url.search;
}

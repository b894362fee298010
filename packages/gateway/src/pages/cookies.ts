/**
 * The cookies of a `Cookie` header by name (RFC 6265 5.4); of two with one name the first, which is that of the longer path.
 * The pages' own values are base64url, so nothing is decoded.
 */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    const [, value] = /^"?([\w-]*)"?$/.exec(pair.slice(at + 1).trim()) ?? [];
    if (name !== '' && value !== undefined && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}

/**
 * A `Set-Cookie` header: kept from scripts, and from requests that other sites start but for plain links. Without
 * `maxAgeSeconds` the browser forgets it when it ends; 0 deletes it.
 */
export function cookieHeader(
  name: string,
  value: string,
  { secure, maxAgeSeconds }: { readonly secure: boolean; readonly maxAgeSeconds?: number | undefined },
): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}${age}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

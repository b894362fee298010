import { isIPv6 } from 'node:net';

/**
 * What failures and requests of an address are counted by: the address itself; of IPv6 its first 64 bits, since whoever has one
 * has all the others of that network (RFC 4291 2.5.4, RFC 6177 2).
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1);
  if (!isIPv6(bare)) return address;
  // Canonical: lower case, an embedded IPv4 address as two groups.
  const { hostname } = new URL(`http://[${bare}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const [first, last] = [groups(head), groups(tail ?? '')];
  const all = tail === undefined ? first : [...first, ...zeros(8 - first.length - last.length), ...last];
  return isMapped(all) ? mapped(all) : `${all.slice(0, 4).join(':')}::/64`;
}

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}

function zeros(count: number): readonly string[] {
  return Array.from({ length: count }, () => '0');
}

/** An IPv4 address, as a socket that takes both kinds has it (RFC 4291 2.5.5.2). */
function isMapped(all: readonly string[]): boolean {
  return all.slice(0, 6).join(':') === '0:0:0:0:0:ffff';
}

function mapped(all: readonly string[]): string {
  return all
    .slice(6)
    .flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255])
    .join('.');
}

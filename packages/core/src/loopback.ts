/**
 * Whether a host is this machine: `localhost` and the names below it (RFC 6761 6.3), 127.0.0.0/8, and `::1`, with or
 * without the brackets of a URL. Other spellings of an address are for the URL parser to normalise first.
 */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(hostname);
}

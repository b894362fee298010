/** http to a loopback host: host, port, and all that follows, unnormalised. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?((?:[/?].*)?)$/;
const printable = /^[!-~]+$/;

/**
 * Whether a redirect URI may be registered: https; http to a loopback host; or a private-use scheme with a dot in it
 * (RFC 8252 7.1). No fragment, user or password, and nothing that a parser may read in two ways.
 */
export function isRedirectUri(uri: string): boolean {
  if (!printable.test(uri) || /[\\#"<>^`{|}]/.test(uri) || uri.length > 2048 || !URL.canParse(uri))
    return false;
  const { protocol, username, password } = new URL(uri);
  if (username !== '' || password !== '') return false;
  if (protocol === 'http:') return loopback.test(uri);
  return protocol === 'https:' || /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(protocol);
}

/**
 * Whether a requested redirect URI is a registered one: the same text; on a loopback host of the same name any port
 * (RFC 8252 7.3). Compared as text, because whoever normalises first compares something else than the browser goes to.
 */
export function matchesRedirectUri(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const [, host, port, rest] = loopback.exec(requested) ?? [];
  if (host === undefined || Number(port ?? 80) > 65_535) return false;
  return registered.some((uri) => {
    const [, registeredHost, , registeredRest] = loopback.exec(uri) ?? [];
    return registeredHost === host && registeredRest === rest;
  });
}

/** Appends parameters and keeps the URI's own query (RFC 6749 4.1.2); `%20` for a space, which every decoder reads. */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&');
  return uri + (uri.includes('?') ? '&' : '?') + query;
}

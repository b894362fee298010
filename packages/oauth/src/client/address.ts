import { isLoopback, TransportError } from '@sallyport/core';
import { LoginError } from './login-error.ts';

/** The address that a person configured. */
export function parseAddress(address: string): URL {
  const url = webAddress(address);
  if (url) return url;
  throw new LoginError('invalid_address', `${JSON.stringify(address)} is not an http or https address.`);
}

/** An address that the service named and that a browser will open: the system's opener would follow any scheme. */
export function parseNamedAddress(address: string, baseUrl: string): URL {
  const url = webAddress(address);
  if (url) return url;
  throw new TransportError('unexpected_answer', `${baseUrl} names an address that is neither http nor https`);
}

function webAddress(address: string): URL | undefined {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
}

/**
 * Plain http carries codes and refresh tokens in the clear. It is allowed to this machine (RFC 8252 8.3), and elsewhere
 * only where the caller says so; an https address in the same metadata is never a licence for an http one.
 */
export function requireSecure(url: URL, allowInsecureHttp: boolean): void {
  if (url.protocol === 'https:' || allowInsecureHttp || isLoopback(url.hostname)) return;
  throw new LoginError('insecure_address', `${url.origin} would receive secrets over plain http.`);
}

import { isIP } from 'node:net';

/** Where a gateway listens: `http://127.0.0.1:8787`, `http://[::1]:8787`. */
export function localUrlOf(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Where clients reach a gateway that listens on `port`; without a slash at the end. */
export function publicUrlOf(
  config: { readonly publicUrl?: string | undefined; readonly host: string },
  port: number,
): string {
  return config.publicUrl ?? localUrlOf(config.host, port);
}

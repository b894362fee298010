import { request as httpRequest, Agent as HttpAgent, type ClientRequestArgs } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect, type SecureContextOptions } from 'node:tls';

const connectTimeoutMs = 10_000;

/** A `createConnection` for `url` by a CONNECT tunnel (RFC 9110 9.3.6) of the proxy, which RFC 6455 4.1 asks of WebSockets. */
export function tunnelAgent(proxy: string, url: string): HttpAgent {
  return new TunnelAgent(new URL(proxy), new URL(url));
}

/** Each connection is for one socket, and none is kept. */
class TunnelAgent extends HttpAgent {
  readonly #proxy: URL;
  readonly #target: URL;

  constructor(proxy: URL, target: URL) {
    super({ keepAlive: false });
    this.#proxy = proxy;
    this.#target = target;
    // What `https` asks of an agent for its requests.
    if (target.protocol === 'wss:') Object.assign(this, { protocol: 'https:' });
  }

  override createConnection(
    { ca }: ClientRequestArgs & SecureContextOptions,
    connected: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const isSecure = this.#target.protocol === 'wss:';
    const { hostname, username, password } = this.#proxy;
    const authority = `${this.#target.hostname}:${this.#target.port || (isSecure ? '443' : '80')}`;
    const call = (this.#proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: unbracketed(hostname),
      port: this.#proxy.port || undefined,
      method: 'CONNECT',
      path: authority,
      timeout: connectTimeoutMs,
      ...(ca !== undefined && { ca }),
      headers: {
        host: authority,
        ...(username !== '' && { 'proxy-authorization': basic(username, password) }),
      },
    });
    const failed = (error: Error) => connected(error, undefined as never);
    call.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode !== 200) {
        socket.destroy();
        failed(new Error(`the proxy ${this.#proxy.host} answered CONNECT with ${statusCode}`));
      } else if (isSecure) {
        const host = unbracketed(this.#target.hostname);
        const secured = tlsConnect({
          socket,
          host, // whom the certificate has to name
          ...(ca !== undefined && { ca }),
          ...(isIP(host) === 0 && { servername: host }),
        });
        connected(null, secured);
      } else connected(null, socket);
    });
    call.once('timeout', () =>
      call.destroy(new Error(`the proxy ${this.#proxy.host} did not answer in time`)),
    );
    call.once('error', failed);
    call.end();
    return undefined;
  }
}

function basic(username: string, password: string): string {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[(.+)\]$/, '$1');
}

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../clock.ts';
import { ConnectionFailure } from './connection-failure.ts';

export interface ConnectOptions {
  /** How long it may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Authorities to trust, in PEM form; by default the usual ones. */
  readonly ca?: readonly string[] | undefined;
  /** What may wait in it for a side that is slow. */
  readonly waitingBytes: number;
  readonly clock: Clock;
}

type Connected = (error: Error | undefined, socket: Socket) => void;

/** Connects to an origin, again and again; over TLS, sessions are taken up. Each gives its socket, to destroy it early. */
export function connectorTo(origin: string, options: ConnectOptions): (done: Connected) => Socket {
  const { protocol, hostname, port } = new URL(origin);
  const { timeoutMs, ca, waitingBytes, clock } = options;
  const host = hostname.replace(/^\[|\]$/g, '');
  const isSecure = protocol === 'https:';
  const to = {
    host,
    port: Number(port) || (isSecure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    highWaterMark: waitingBytes,
  };
  let session: Buffer | undefined;

  function open(): Socket {
    if (!isSecure) return connectTcp(to);
    const socket = connectTls({
      ...to,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca && { ca: [...ca] }),
      ...(session && { session }),
    });
    return socket.on('session', (fresh: Buffer) => (session = fresh));
  }

  return (done) => {
    const socket = open();
    const timer = clock.after(timeoutMs, () =>
      socket.destroy(new ConnectionFailure('ETIMEDOUT', `No connection to ${origin} in time.`)),
    );
    let failure: Error | undefined;
    const onError = (error: Error) => (failure = error);
    const onClose = () => {
      timer.cancel();
      session = undefined;
      done(failure ?? new ConnectionFailure('EOF', `No connection to ${origin}.`), socket);
    };
    socket.on('error', onError).once('close', onClose);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      timer.cancel();
      socket.off('close', onClose);
      done(undefined, socket);
      socket.off('error', onError);
    });
    return socket;
  };
}

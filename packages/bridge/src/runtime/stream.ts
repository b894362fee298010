import { isJsonObject, neutralDialect, inDialect, type Clock } from '@sallyport/core';
import { endpointUrl, type ClientOptions } from '@sallyport/core/client';
import { contract, headerNames, workerVersion } from '@sallyport/core/contract';
import type { ServiceFrame } from '../protocol/frames.ts';
import type { Credentials } from './worker-credentials.ts';
import { LiveSocket, type StreamEnd } from './live-socket.ts';

export interface StreamOptions {
  readonly clientOptions: ClientOptions;
  readonly clock: Clock;
  readonly credentials: Credentials;
  readonly sessionId: string;
  /** Events after this one are wanted. */
  readonly fromSeq: number;
  readonly onOpen: () => void;
  readonly onFrame: (frame: ServiceFrame) => void;
}

/** Step 3 of the handshake, whatever carries it: one stream of frames both ways, from its opening to its end. */
export interface WorkerStream {
  /** Rejects when it never opened: `ServiceError` for the service's refusal, `TransportError` for the network. */
  readonly ended: Promise<StreamEnd>;
  readonly isOpen: boolean;
  send(frame: string): void;
  /** Ends it politely, once what was sent is out. */
  close(): void;
  /** Ends it without a word: the peer is not there any more, or shall not be heard any more. */
  drop(): void;
}

/** The stream as a WebSocket. */
export function openWebSocket(options: StreamOptions): WorkerStream {
  const { clientOptions, clock, credentials, sessionId, fromSeq, onOpen, onFrame } = options;
  const { dialect = neutralDialect } = clientOptions;
  const input = { params: { id: sessionId }, query: { from_seq: fromSeq } };
  const url = endpointUrl(credentials.apiBaseUrl, contract.worker.stream, input, dialect);
  return new LiveSocket({
    clientOptions,
    clock,
    url: url.replace(/^http/, 'ws'),
    headers: {
      ...clientOptions.headers,
      authorization: `Bearer ${credentials.ingressToken}`,
      'content-type': 'application/json',
      [inDialect(headerNames.version, dialect)]: workerVersion,
    },
    heartbeat: '{"type":"worker.heartbeat"}',
    onOpen,
    onText: (text) => {
      const frame = parseFrame(text);
      if (frame) onFrame(frame);
    },
  });
}

/** Anything that is no JSON object with a type is not for us. */
export function parseFrame(text: string): ServiceFrame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && typeof value['type'] === 'string'
      ? (value as unknown as ServiceFrame)
      : undefined;
  } catch {
    return undefined;
  }
}

export { isForeignPage, toServiceError } from './answer.ts';
export { createClient, type Call, type Client } from './client.ts';
export type { FamilyCall, FamilyClient, OpenObject } from './families.ts';
export {
  callEndpoint,
  endpointUrl,
  readAnswer,
  send,
  type CalledEndpoint,
  type CallInput,
  type CallOptions,
  type ClientOptions,
} from './call.ts';
export type { SocketCall, SocketFamilyClient } from './sockets.ts';
export type { EncodedBody } from './encoding.ts';
export { pages, type ListPage } from './pages.ts';
export { streamRecords, streamSession, type StreamFrame } from './event-stream.ts';
export { http1Transport } from '../transport/http1.ts';
export { undiciTransport } from '../transport/undici.ts';
export { fetchTransport } from '../transport/fetch.ts';
export { incomingAnswer } from '../transport/incoming-answer.ts';
export { tunnelAgent } from '../transport/tunnel.ts';
export {
  upgrade,
  type ClientSocket,
  type SocketEnd,
  type SocketMessage,
  type SocketRequest,
} from '../transport/upgrade.ts';
export { transportFailure } from '../transport/failure.ts';
export { retryAfterMs, sendWithRetries } from '../transport/retry.ts';
export { readServerSentEvents, type ServerSentEvent } from '../transport/sse.ts';
export type {
  TransportOptions,
  Transport,
  TransportRequest,
  TransportResponse,
} from '../transport/transport.ts';

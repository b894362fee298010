import { systemClock } from '../clock.ts';
import { defaultLimits } from '../contract/endpoint.ts';
import type { Family } from '../contract/families.ts';
import { upgrade, type ClientSocket, type SocketRequest } from '../transport/upgrade.ts';
import { toServiceError } from './answer.ts';
import { withBearer } from './bearer.ts';
import { toRequest, type CalledEndpoint, type CallInput, type ClientOptions } from './call.ts';

/** How one WebSocket is opened: `headers` and `query` beside the rest. `signal` closes it, too, once it is open. */
export type SocketCall = Pick<CallInput, 'headers' | 'query'> &
  Pick<SocketRequest, 'signal' | 'protocols' | 'maxMessageBytes'> & {
    /** Milliseconds until it must be open. Default: 30,000. */
    readonly timeoutMs?: number;
    /** This bearer instead of the token source's; it is not refreshed. */
    readonly bearer?: string;
  };

/** A resource of WebSockets that only an upstream serves, or a part of one. What is said is between caller and upstream. */
export interface SocketFamilyClient {
  /** Opens one. Refusals reject with `ServiceError`, network failures with `TransportError`. */
  connect(call?: SocketCall): Promise<ClientSocket>;
  /** What stands below, a segment for each part: `voice.at('conversations', id)`. */
  at(...segments: readonly string[]): SocketFamilyClient;
}

export function socketFamilyClient(
  options: ClientOptions,
  family: Family,
  segments: readonly string[],
): SocketFamilyClient {
  const { auth, prefix } = family;
  const endpoint: CalledEndpoint = {
    ...{ method: 'GET', auth, transport: 'websocket' },
    path: [prefix, ...segments.map((_, i) => `{segment${i}}`)].join('/'),
  };
  const params = Object.fromEntries(segments.map((segment, i) => [`segment${i}`, segment]));
  return {
    connect: ({ protocols, maxMessageBytes, headers, query, ...call } = {}) =>
      withBearer(options, endpoint, call, async (bearer) => {
        const { transport, clock = systemClock } = options;
        const input = { headers, query, params };
        const { timeoutMs = defaultLimits.timeoutMs } = call;
        const request = toRequest(options, endpoint, input, call, { bearer });
        const asked = { ...(protocols && { protocols }), ...(maxMessageBytes && { maxMessageBytes }) };
        const answer = await upgrade(transport, { ...request, timeoutMs, ...asked });
        if ('send' in answer) return answer;
        throw await toServiceError(answer, request.url, clock.now());
      }),
    at: (...more) => socketFamilyClient(options, family, [...segments, ...more]),
  };
}

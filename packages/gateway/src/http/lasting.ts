import type { Clock, Grants } from '@sallyport/core';
import type { Endpoint } from '@sallyport/core/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { grantOf, sinceOf, tokenOf } from './callers.ts';
import { lastingPermission } from './admission.ts';
import type { Call } from './call.ts';
import type { Drain } from './drain.ts';
import { sendEventStream } from './event-stream.ts';
import type { SocketTaker, SseFrame } from './handler.ts';
import type { UpgradeRouter } from './upgrades.ts';

export interface LastingOptions {
  readonly clock: Clock;
  readonly drain: Drain;
  readonly upgrades: UpgradeRouter;
  readonly grants?: Grants;
}

// Answers that last, in functions of their own: what these name stays in memory for as long as the answer does.

/** Switches to the WebSocket that a handler takes; it ends with what its caller's credential stands on. */
export function openSocket(
  endpoint: Endpoint,
  { raw, id, caller }: FastifyRequest,
  take: SocketTaker,
  options: LastingOptions,
): void {
  const permission = lastingPermission(endpoint);
  options.upgrades.accept(raw, id, (socket, endListeners) => {
    take(socket);
    socket.open({ caller, permission, endListeners }, options);
  });
}

/** Sends a handler's frames until they end, or the drain or a revocation ends them. */
export async function streamEvents(
  endpoint: Endpoint,
  call: Call,
  reply: FastifyReply,
  result: SocketTaker | AsyncIterable<SseFrame>,
  { clock, drain, grants }: LastingOptions,
): Promise<void> {
  let farewell = 'draining';
  const stream = {
    permission: lastingPermission(endpoint),
    tokenId: tokenOf(call.caller),
    end: () => call.end(),
    terminate: () => reply.raw.destroy(),
    revoked() {
      farewell = 'revoked';
      call.end();
    },
  };
  drain.add(stream);
  const grantId = grantOf(call.caller);
  if (grantId !== undefined) grants?.watch(grantId, stream, sinceOf(call.caller));
  try {
    await sendEventStream(reply.raw, framesOf(result), {
      clock,
      headers: sentHeaders(reply),
      signal: call.signal,
      farewell: () => farewell,
    });
  } catch (error) {
    call.log.error({ err: error }, 'event stream failed');
  } finally {
    if (grantId !== undefined) grants?.unwatch(grantId, stream);
    drain.remove(stream);
  }
}

function framesOf(result: SocketTaker | AsyncIterable<SseFrame>): AsyncIterable<SseFrame> {
  if (typeof result !== 'function') return result;
  if (result.events === undefined) throw new Error('A row with an event stream has a handler without one.');
  return result.events();
}

function sentHeaders(reply: FastifyReply): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = String(value);
  return headers;
}

import type { Clock, Grants } from '@sallyport/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Call } from './call.ts';
import type { Drain } from './drain.ts';
import { sendEventStream } from './event-stream.ts';
import type { SocketTaker, SseFrame } from './handler.ts';
import { OpenSocket } from './open-socket.ts';
import { watchGrant } from './revocation.ts';
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
  { raw, id, caller }: FastifyRequest,
  take: SocketTaker,
  options: LastingOptions,
): void {
  options.upgrades.accept(raw, id, (socket, ended) => {
    take(socket);
    new OpenSocket(socket, caller, ended, options);
  });
}

/** Sends a handler's frames until they end, or the drain or a revocation ends them. */
export async function streamEvents(
  call: Call,
  reply: FastifyReply,
  result: SocketTaker | AsyncIterable<SseFrame>,
  { clock, drain, grants }: LastingOptions,
): Promise<void> {
  const remove = drain.add({ end: () => call.end(), terminate: () => reply.raw.destroy() });
  let farewell = 'draining';
  const unwatch = watchGrant(grants, call.caller, () => {
    farewell = 'revoked';
    call.end();
  });
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
    unwatch();
    remove();
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

import { ServiceError, type Clock, type Dialect, type Grants } from '@sallyport/core';
import { endpoints, type Endpoint } from '@sallyport/core/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admit, readmit, type AdmissionOptions, type AnyCaller } from './admission.ts';
import { sendAnswer } from './answer.ts';
import { readBody } from './body.ts';
import type { BodyBudget, HeldBytes } from './body-budget.ts';
import { callSignal } from './call-signal.ts';
import type { Traffic } from '../metrics/traffic.ts';
import type { Drain } from './drain.ts';
import { sendEventStream } from './event-stream.ts';
import type { Handlers, SocketTaker, SseFrame } from './handler.ts';
import { routePath } from './paths.ts';
import type { UpgradeRouter } from './upgrades.ts';
import { revoke, watchGrant } from './revocation.ts';
import { validate, type Parts } from './validation.ts';

/** The handlers that there are; a row without one answers 501. */
export type PartialHandlers = { readonly [A in keyof Handlers]?: Partial<Handlers[A]> };

export interface PipelineOptions extends AdmissionOptions {
  readonly handlers: PartialHandlers;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly drain: Drain;
  readonly bodies: BodyBudget;
  readonly upgrades: UpgradeRouter;
  readonly grants?: Grants;
  readonly traffic: Traffic;
  /** Whether the rows of an area are served here. */
  readonly isLocal: (area: string) => boolean;
}

/** A call whose row is only known at run time; `Handlers` has the types row by row. */
interface AnyCall extends Parts {
  readonly caller: AnyCaller;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly readmit: () => Promise<AnyCaller>;
  readonly log: FastifyRequest['log'];
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
/** A body that takes longer to come in is one whose sender may have lost its credential meanwhile. */
const slowBodyMs = 1000;

type AnyHandler = (call: AnyCall) => Promise<unknown>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The row of the contract that the route serves. */
    readonly endpoint?: Endpoint;
  }
  interface FastifyRequest {
    caller: AnyCaller;
  }
}

/** Registers a route for every row of the contract that is served here. */
export function registerContract(app: FastifyInstance, options: PipelineOptions): void {
  app.decorateRequest('caller', undefined);
  // Bodies are read by the row, in the handler: nothing is parsed before the checks that come first.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const endpoint of endpoints) if (options.isLocal(endpoint.area)) registerRow(app, endpoint, options);
}

function registerRow(app: FastifyInstance, endpoint: Endpoint, options: PipelineOptions): void {
  const { upgrades } = options;
  const handler = handlerOf(options.handlers, endpoint);
  const meter = options.traffic.meter({ area: endpoint.area, row: endpoint.id, upstream: '' });
  app.route({
    method: endpoint.method,
    url: routePath(endpoint, options.dialect),
    config: { endpoint },
    // HEAD is GET without the body, and safe: not where GET hands something out for good.
    exposeHeadRoute: endpoint.permission !== 'write' && endpoint.transport !== 'websocket',
    onRequest: async (request, reply) => {
      meter.count(reply.raw);
      if (upgrades.isUpgrade(request.raw)) {
        // RFC 6455 4.4. Whoever is refused sees that no proxy took the upgrade away: `sallyport doctor` asks for that.
        reply.header('sec-websocket-version', '13');
        upgrades.checkPace();
      }
      request.caller = await admit(endpoint, request, reply, options);
    },
    handler: async (request, reply) => {
      const held = options.bodies.hold();
      try {
        await serve(endpoint, handler, request, reply, { ...options, held });
      } finally {
        held.release();
      }
      return reply;
    },
  });
}

function handlerOf(handlers: PartialHandlers, { id, area }: Endpoint): AnyHandler | undefined {
  const byVerb = (handlers as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[area];
  return byVerb?.[id.slice(area.length + 1)] as AnyHandler | undefined;
}

async function serve(
  endpoint: Endpoint,
  handler: AnyHandler | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  options: PipelineOptions & { readonly held: HeldBytes },
): Promise<void> {
  const { dialect, clock, drain, upgrades, grants, held } = options;
  const isSocket = endpoint.transport === 'websocket' && !asksForEvents(endpoint, request, upgrades);
  const isEvents = endpoint.transport === 'sse' || (endpoint.transport === 'websocket' && !isSocket);
  if (isSocket && !upgrades.isUpgrade(request.raw)) {
    reply.header('upgrade', 'websocket');
    throw new ServiceError('invalid_request', 'This needs a WebSocket: Upgrade: websocket.');
  }
  if (isSocket) upgrades.checkHandshake(request.raw);
  const again = async () => (request.caller = await readmit(endpoint, request, options));
  const beganAt = clock.monotonic();
  const body = endpoint.body === undefined ? undefined : await readBody(endpoint, request.raw, held);
  if (clock.monotonic() - beganAt >= slowBodyMs) await again();
  const parts = validate(endpoint, request, body, dialect);
  if (handler === undefined)
    throw new ServiceError('not_implemented', `This release does not serve ${endpoint.id}.`);
  const lasting = isSocket || isEvents;
  // What lasts would be ended as soon as it began, and its client would be back at once: this one says when.
  if (lasting || isHeld(parts)) drain.signal.throwIfAborted();
  const { signal, end } = callSignal(reply.raw, lasting ? undefined : drain.signal);
  const call: AnyCall = {
    ...parts,
    caller: request.caller,
    requestId: request.id,
    signal,
    readmit: again,
    log: request.log,
    request,
    reply,
  };
  const result = await handler(call);

  if (isSocket) {
    reply.hijack();
    const take = result as SocketTaker;
    return upgrades.accept(request.raw, request.id, (socket) => {
      take(socket);
      const unwatch = watchGrant(grants, request.caller, () => revoke(socket, clock));
      socket.once('close', unwatch);
    });
  }
  if (isEvents && request.method !== 'HEAD') {
    reply.hijack();
    const remove = drain.add({ end, terminate: () => reply.raw.destroy() });
    let farewell = 'draining';
    const unwatch = watchGrant(grants, request.caller, () => {
      farewell = 'revoked';
      end();
    });
    const frames = framesOf(result as SocketTaker | AsyncIterable<SseFrame>);
    try {
      await sendEventStream(reply.raw, frames, {
        clock,
        headers: sentHeaders(reply),
        signal,
        farewell: () => farewell,
      });
    } catch (error) {
      request.log.error({ err: error }, 'event stream failed');
    } finally {
      unwatch();
      remove();
    }
    return;
  }
  if (isEvents) end(); // HEAD: nobody reads it
  sendAnswer(endpoint, reply, result);
}

/** Whether the frames of a WebSocket are to come as server-sent events. */
function asksForEvents(endpoint: Endpoint, { raw }: FastifyRequest, upgrades: UpgradeRouter): boolean {
  const accepts = /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(raw.headers.accept ?? '');
  return endpoint.eventStream === true && accepts && !upgrades.isUpgrade(raw);
}

function framesOf(result: SocketTaker | AsyncIterable<SseFrame>): AsyncIterable<SseFrame> {
  if (typeof result !== 'function') return result;
  if (result.events === undefined) throw new Error('A row with an event stream has a handler without one.');
  return result.events();
}

/** Whether the caller waits for something to come. */
function isHeld({ query }: Parts): boolean {
  return ((query as { readonly block_ms?: number } | undefined)?.block_ms ?? 0) > 0;
}

function sentHeaders(reply: FastifyReply): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = String(value);
  return headers;
}

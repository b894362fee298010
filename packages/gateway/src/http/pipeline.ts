import { ServiceError, type Clock, type Dialect, type Grants } from '@sallyport/core';
import { endpoints, type Endpoint, type Row } from '@sallyport/core/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AnyCaller } from './callers.ts';
import { admit, readmit, slowBodyMs, type AdmissionOptions } from './admission.ts';
import { sendAnswer } from './answer.ts';
import { readBody } from './body.ts';
import type { BodyBudget, HeldBytes } from './body-budget.ts';
import { Call } from './call.ts';
import type { Traffic } from '../metrics/traffic.ts';
import type { DirectWay } from './direct-way.ts';
import type { Drain } from './drain.ts';
import { Held, type Handlers, type SocketTaker, type SseFrame } from './handler.ts';
import { openSocket, streamEvents } from './lasting.ts';
import { routePath, type MorePaths } from './paths.ts';
import { publicDocument, type PublicDocuments } from './public-documents.ts';
import type { UpgradeRouter } from './upgrades.ts';
import { validate, type Parts } from './validation.ts';

/** The handlers that there are; a row without one answers 501. */
export type PartialHandlers = { readonly [A in keyof Handlers]?: Partial<Handlers[A]> };

export interface PipelineOptions extends AdmissionOptions {
  readonly handlers: PartialHandlers;
  /** What is answered past the pipeline where nothing else is asked of it; its row has a handler, too. */
  readonly documents?: PublicDocuments | undefined;
  readonly morePaths?: MorePaths | undefined;
  readonly directWay: DirectWay;
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

type AnyHandler = (call: Call) => Promise<unknown>;

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
  const row: ServedRow = { endpoint, handler: handlerOf(options.handlers, endpoint) };
  const meter = options.traffic.meter({ area: endpoint.area, row: endpoint.id, upstream: '' });
  const document = options.documents?.[endpoint.id as Row['id']];
  const direct = document && publicDocument({ ...options, endpoint, document, meter });
  const more = options.morePaths?.[endpoint.id as Row['id']];
  const route = (url: string) =>
    app.route({
      method: endpoint.method,
      url,
      config: { endpoint, direct },
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
      // Answers by `reply`, and not by a promise that would be kept as long as a poll is held.
      handler: (request, reply) => {
        const served =
          endpoint.body === undefined
            ? serve(row, request, reply, undefined, options)
            : serveBody(row, request, reply, options);
        served.catch((error: unknown) => refuse(reply, error));
      },
    });
  route(routePath(endpoint, options.dialect));
  if (more !== undefined) route(more);
}

async function serveBody(
  row: ServedRow,
  request: FastifyRequest,
  reply: FastifyReply,
  options: PipelineOptions,
): Promise<void> {
  const held = options.bodies.hold();
  try {
    await serve(row, request, reply, held, options);
  } finally {
    held.release();
  }
}

function handlerOf(handlers: PartialHandlers, { id, area }: Endpoint): AnyHandler | undefined {
  const byVerb = (handlers as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[area];
  return byVerb?.[id.slice(area.length + 1)] as AnyHandler | undefined;
}

interface ServedRow {
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler | undefined;
}

/** How the answer comes: at once, over a WebSocket, or as server-sent events. */
type Way = 'answer' | 'socket' | 'events';

async function serve(
  row: ServedRow,
  request: FastifyRequest,
  reply: FastifyReply,
  held: HeldBytes | undefined,
  options: PipelineOptions,
): Promise<void> {
  const { endpoint, handler } = row;
  const way = wayOf(endpoint, request, reply, options.upgrades);
  const readmitted = async () => (request.caller = await readmit(endpoint, request, options));
  const body = held && (await bodyOf(endpoint, request, held, readmitted, options));
  const parts = validate(endpoint, request, body, options.dialect);
  if (handler === undefined)
    throw new ServiceError('not_implemented', `This release does not serve ${endpoint.id}.`);
  const { drain } = options;
  // What lasts would be ended as soon as it began, and its client would be back at once: this one says when.
  if (drain.draining && (way !== 'answer' || isHeld(parts))) throw drain.refusal();
  const ending = way === 'answer' ? drain.signal : undefined;
  const call = new Call({ request, reply, parts, readmit: readmitted, ending });
  const result = await handler(call);
  if (way === 'socket') {
    reply.hijack();
    openSocket(endpoint, request, result as SocketTaker, options);
  } else if (way === 'events' && request.method !== 'HEAD') {
    reply.hijack();
    await streamEvents(endpoint, call, reply, result as SocketTaker | AsyncIterable<SseFrame>, options);
  } else if (result instanceof Held) {
    sendHeld(endpoint, reply, result);
  } else {
    if (way === 'events') call.end(); // HEAD: nobody reads it
    sendAnswer(endpoint, reply, result);
  }
}

/** A function of its own: what it names stays in memory for as long as the answer is held back. */
function sendHeld(endpoint: Endpoint, reply: FastifyReply, { answer }: Held<unknown>): void {
  answer
    .then((result) => sendAnswer(endpoint, reply, result))
    .catch((error: unknown) => refuse(reply, error));
}

function refuse(reply: FastifyReply, error: unknown): void {
  if (reply.sent) reply.log.error({ err: error }, 'a request failed after its answer was sent');
  else reply.send(error);
}

/** Refuses a WebSocket's row to what is no handshake. */
function wayOf(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  upgrades: UpgradeRouter,
): Way {
  if (endpoint.transport === 'sse') return 'events';
  if (endpoint.transport !== 'websocket') return 'answer';
  if (asksForEvents(endpoint, request, upgrades)) return 'events';
  if (!upgrades.isUpgrade(request.raw)) {
    reply.header('upgrade', 'websocket');
    throw new ServiceError('invalid_request', 'This needs a WebSocket: Upgrade: websocket.');
  }
  upgrades.checkHandshake(request.raw);
  return 'socket';
}

async function bodyOf(
  endpoint: Endpoint,
  { raw }: FastifyRequest,
  held: HeldBytes,
  readmitted: () => Promise<AnyCaller>,
  { clock }: PipelineOptions,
): Promise<unknown> {
  const beganAt = clock.monotonic();
  const body = await readBody(endpoint, raw, held);
  if (clock.monotonic() - beganAt >= slowBodyMs) await readmitted();
  return body;
}

/** Whether the frames of a WebSocket are to come as server-sent events. */
function asksForEvents(endpoint: Endpoint, { raw }: FastifyRequest, upgrades: UpgradeRouter): boolean {
  const accepts = /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(raw.headers.accept ?? '');
  return endpoint.eventStream === true && accepts && !upgrades.isUpgrade(raw);
}

/** Whether the caller waits for something to come. */
function isHeld({ query }: Parts): boolean {
  return ((query as { readonly block_ms?: number } | undefined)?.block_ms ?? 0) > 0;
}

import { gunzipSync, inflateSync } from 'node:zlib';
import { isJsonObject, ServiceError, type Clock, type Dialect, type Ids } from '@sallyport/core';
import { defaultLimits, type Endpoint } from '@sallyport/core/contract';
import { decodeLogs, judgeBatch, logsAnswerJson, logsAnswerProtobuf } from '@sallyport/telemetry/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { slowBodyMs } from '../http/admission.ts';
import { sendAnswer } from '../http/answer.ts';
import { checkMedia, parseOtlpJson } from '../http/body.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import type { Drain } from '../http/drain.ts';
import { isProtobuf } from '../http/otlp-refusal.ts';
import { validate } from '../http/validation.ts';
import type { Meter } from '../metrics/traffic.ts';
import type { Conformance } from './conformance.ts';
import type { DeliveredAnswer } from './delivery.ts';
import { checkCircle } from './circle.ts';
import { requestHeadersBy, responseHeaders, withBody } from './headers.ts';
import type { Inspect } from './inspection.ts';
import type { Outbox } from './outbox.ts';
import { targetOf } from './target.ts';
import { collect, tooLarge } from './upload.ts';

/** The rows that an upstream need not be there for: what they take is worth as much later. */
export function isKept({ id }: Endpoint): boolean {
  return id === 'telemetry.batch' || id === 'telemetry.logs';
}

/** An upstream that is away so long that the outbox is full is not back at once. */
const noRoomRetryMs = 30_000;

export interface KeepingOptions {
  readonly endpoint: Endpoint;
  readonly outbox: Outbox;
  readonly trustProxy: boolean;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly drain: Drain;
  readonly bodies: BodyBudget;
  readonly meter: Meter;
  /** 0: as many as the row takes. */
  readonly maxBodyBytes: number;
  readonly conformance: Conformance | undefined;
  readonly inspect: Inspect | undefined;
  /** Refuses who may not call any more, where callers are checked here. */
  readonly readmission: ((request: FastifyRequest) => Promise<unknown>) | undefined;
  /** Whether the organization lets what it sends be kept, by anybody. */
  readonly mayKeep: (organizationId: string) => Promise<boolean>;
}

/** Passes requests on as a forwarder does, but keeps those that their upstream cannot take now. */
export function createKeepingForwarder(
  options: KeepingOptions,
): (request: FastifyRequest, reply: FastifyReply, arrived: number) => Promise<void> {
  const { endpoint, outbox, clock, ids, bodies, meter, conformance, mayKeep } = options;
  const { trustProxy, inspect, readmission } = options;
  const rowBytes = endpoint.limits?.bodyBytes ?? defaultLimits.bodyBytes;
  const limit = options.maxBodyBytes > 0 ? Math.min(options.maxBodyBytes, rowBytes) : rowBytes;
  // What rests has no credential: one is added on the way out.
  const restingHeaders = requestHeadersBy({
    credential: { kind: 'withhold', checked: true },
    isWorkers: false,
    isInspected: inspect !== undefined,
    trustProxy,
  });

  return async (request, reply, arrived) => {
    checkCircle(request.raw);
    const path = targetOf(request.url, false);
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
    const held = bodies.hold();
    try {
      const began = clock.monotonic();
      const body = await collect(request.raw, limit, held);
      const waited = clock.monotonic() - began;
      if (waited >= slowBodyMs) await readmission?.(request);
      meter.receivedBytes += body.length;
      conformance?.request(request, body);
      meter.gatewaySeconds.observe((clock.monotonic() - arrived - waited) / 1000);
      const headers = restingHeaders(request.raw, request.id);
      // A delivery whose answer is lost is made again: the upstream can tell by this.
      if (request.headers['idempotency-key'] === undefined) headers.push('idempotency-key', ids.next('req'));
      const { caller } = request;
      const member = caller && 'organizationId' in caller ? caller : undefined;
      const organizationId = member?.organizationId;
      const outbound = {
        organizationId: organizationId ?? '',
        accountId: member?.accountId ?? '',
        receivedAt: clock.now(),
        path,
        headers,
        body,
      };
      if (organizationId !== undefined && !(await mayKeep(organizationId))) {
        const { accepted } = acceptance(request, body, options);
        outbox.countZeroRetention();
        return sendAnswer(endpoint, reply, accepted);
      }
      const sentAt = clock.monotonic();
      const answer = await outbox.deliver(outbound);
      if (answer !== undefined) {
        meter.upstreamSeconds.observe((clock.monotonic() - sentAt) / 1000);
        return passOn(request, reply, answer, options);
      }
      const { accepted, records } = acceptance(request, body, options);
      const kept = { ...outbound, records, headers: withoutSentAt(headers) };
      if (!(await outbox.keep(kept).catch((error: unknown) => throwNoRoom(endpoint, error))))
        throw noRoom(endpoint);
      sendAnswer(endpoint, reply, accepted);
    } finally {
      held.release();
    }
  };
}

/** The upstream's answer, in its own words. */
function passOn(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, reason, raw, body }: DeliveredAnswer,
  { meter, drain, inspect }: KeepingOptions,
): void {
  const head = responseHeaders(raw, request.id);
  const sent = inspect?.(status, head)?.look(body) ?? body;
  const list = withBody(head.list, sent, sent !== body);
  if (drain.draining) list.push('connection', 'close');
  reply.hijack();
  meter.sentBytes += sent.length;
  reply.raw.writeHead(status, reason, list).end(sent);
}

/** What the contract has for a request that is taken. Throws what the upstream would have to. */
function acceptance(
  request: FastifyRequest,
  body: Buffer,
  { endpoint, dialect, clock }: KeepingOptions,
): { readonly accepted: unknown; readonly records: number } {
  checkMedia(endpoint, request.raw);
  const bytes = plain(body, request.headers['content-encoding'] ?? '', endpoint);
  if (endpoint.id === 'telemetry.logs') {
    validate(endpoint, request, body, dialect);
    const encoding = isProtobuf(request) ? 'protobuf' : 'json';
    const logs = decodeLogs({ encoding, bytes }, clock.now());
    const accepted = encoding === 'protobuf' ? logsAnswerProtobuf(logs) : logsAnswerJson(logs);
    return { accepted, records: logs.accepted + logs.rejected };
  }
  const parsed = parseOtlpJson(bytes);
  validate(endpoint, request, parsed, dialect);
  const events: unknown = isJsonObject(parsed) ? parsed['events'] : undefined;
  const records = judgeBatch(Array.isArray(events) ? events : [], clock.now()).length;
  return { accepted: { accepted: records }, records };
}

/** Whoever sends keeps what it has, and comes again: each of the two by the status that its clients do that after. */
function noRoom({ id }: Endpoint, cause?: Error): ServiceError {
  const code = id === 'telemetry.logs' ? 'store_unavailable' : 'temporarily_unavailable';
  return new ServiceError(code, 'There is no room for what has to wait for the upstream; try again later.', {
    retryAfterMs: noRoomRetryMs,
    ...(cause && { cause }),
  });
}

/** A disk that takes nothing now, or too many who write at once, are no room either. */
function throwNoRoom(endpoint: Endpoint, error: unknown): never {
  throw error instanceof ServiceError && error.status === 503 ? noRoom(endpoint, error) : error;
}

function plain(body: Buffer, contentEncoding: string, { limits }: Endpoint): Buffer {
  const decode = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync }[
    contentEncoding.trim().toLowerCase()
  ];
  if (decode === undefined) return body;
  const maxBytes = limits?.bodyBytes ?? defaultLimits.bodyBytes;
  try {
    return decode(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    const description = 'The body is not in the encoding that it says.';
    throw new ServiceError('invalid_request', description, { cause });
  }
}

/** By when it was sent, the upstream would take the time that it rested here for a fault of the sender's clock. */
function withoutSentAt(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)]?.toLowerCase() !== 'x-sent-at');
}

import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError, type Ids } from '@sallyport/core';
import { headerNames } from '@sallyport/core/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sentCredential } from './admission.ts';
import { lingerOnClose } from './linger.ts';
import { toOtlpRefusal } from './otlp-refusal.ts';
import { acceptedCodings, codingIssue, toRefusal, toServiceError, type Refusal } from './refusal.ts';

export interface Refusals {
  /** For what a route, or Fastify on its way to one, has thrown. */
  onError(error: unknown, request: FastifyRequest, reply: FastifyReply): void;
  /** For requests that are not HTTP that can be read: they have no request and no response, only the connection. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void;
}

/**
 * What a browser is told where no endpoint is: a document, or none for a redirect, with status and headers set.
 * `undefined` for other programs, which are refused like anywhere else.
 */
export type Elsewhere = (
  request: FastifyRequest,
  reply: FastifyReply,
  error: ServiceError,
) => { readonly document: string | undefined } | undefined;

/** Every refusal of the gateway, from whatever layer, in the one shape and with a request id. */
export function createRefusals(options: {
  readonly realm: string;
  readonly ids: Ids;
  readonly elsewhere?: Elsewhere | undefined;
}): Refusals {
  return {
    onError(thrown, request, reply) {
      const endpoint = request.routeOptions.config.endpoint;
      const error = toServiceError(thrown, endpoint);
      // To end, and to be asked for what it does not serve, is no fault of the gateway's.
      if (error.code === 'draining') request.log.info({ code: error.code }, 'request refused');
      else if (error.status >= 500 && error.status !== 501)
        request.log.error({ err: error.cause ?? error, code: error.code }, 'request failed');
      const context = {
        ...options,
        requestId: request.id,
        endpoint,
        sentCredential: sentCredential(request),
      };
      const refusal = toRefusal(error, context);
      const { status, headers, body } =
        endpoint?.id === 'telemetry.logs' ? toOtlpRefusal(refusal, error, request.raw) : refusal;
      if (reply.sent) return;
      const page = endpoint === undefined ? options.elsewhere?.(request, reply, error) : undefined;
      if (page) return void reply.send(page.document);
      // Whoever is refused in the middle of an upload must not go on with it, nor lose the answer because it does.
      const ends = status === 413 || error.code === 'overloaded' || endpoint?.transport === 'multipart';
      if (!request.raw.complete && ends) {
        reply.header('connection', 'close');
        lingerOnClose(request.raw);
      }
      if (error.issues.some(({ path }) => path === codingIssue))
        reply.header('accept-encoding', acceptedCodings(endpoint)); // RFC 9110 15.5.16
      void reply
        .code(status)
        .headers({ [headerNames.requestId]: request.id, ...headers })
        .send(body);
    },

    onClientError(error, socket) {
      // Bytes behind the last request of a connection: its answer is the last one, and ends the connection.
      if (error.code === 'HPE_CLOSED_CONNECTION') return;
      if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
      const requestId = options.ids.next('req');
      const refusal = toRefusal(unreadable(error), { ...options, requestId, sentCredential: false });
      socket.end(asHttp(refusal, requestId));
    },
  };
}

function unreadable(error: NodeJS.ErrnoException): ServiceError {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new ServiceError('headers_too_large', 'The headers must not be larger than 16 KiB in all.');
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ServiceError('invalid_request', 'The request did not arrive in time.', { status: 408 });
  return new ServiceError('invalid_request', 'The request is not HTTP that can be read.');
}

function asHttp({ status, headers, body }: Refusal, requestId: string): string {
  const lines = Object.entries({
    ...headers,
    [headerNames.requestId]: requestId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${String(body)}`;
}

/** What stands at a path that no route of the request's method takes: 405 with `Allow`, or 404. */
export function unrouted(request: IncomingMessage, methods: readonly string[]): ServiceError {
  return methods.length > 0
    ? new ServiceError('method_not_allowed', `${request.method ?? ''} is not one of ${methods.join(', ')}.`)
    : new ServiceError('not_found', 'There is nothing at this path.');
}

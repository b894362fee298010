import { z } from 'zod';
import {
  defaultLimits,
  headerNames,
  isOptional,
  mediaTypes,
  refusalStatuses,
  type Credential,
  type Endpoint,
} from '../contract/index.ts';
import { inDialect, type Dialect } from '../dialect.ts';
import { inlineSchema, type Components, type JsonSchema } from './components.ts';

/** The security schemes of the document, by what a row's `auth` asks for. */
export const securitySchemes = {
  accessToken: { type: 'http', scheme: 'bearer', description: 'An access token (RFC 9068), or an API key' },
  apiKey: { type: 'apiKey', in: 'header', name: headerNames.apiKey, description: 'An API key' },
  sessionKey: { type: 'http', scheme: 'bearer', description: "A signed-in person's session key" },
  ingress: { type: 'http', scheme: 'bearer', description: 'The `worker_jwt` of the handshake' },
} as const;

const token = [{ accessToken: [] }, { apiKey: [] }];
const security: Readonly<Record<Credential, readonly object[]>> = {
  none: [],
  optional: [{}, ...token],
  access_token: token,
  session_key: [{ sessionKey: [] }],
  ingress: [{ ingress: [] }],
};

/** A row as an OpenAPI 3.1 operation. */
export function toOperation(endpoint: Endpoint, components: Components, dialect: Dialect): JsonSchema {
  const { id, area, summary, auth, body, extension } = endpoint;
  return {
    operationId: id,
    tags: [area],
    summary,
    ...(describe(endpoint, dialect) !== '' && { description: describe(endpoint, dialect) }),
    ...(extension === true && { 'x-extension': true }),
    security: security[auth],
    parameters: parametersOf(endpoint, dialect),
    ...(body && { requestBody: requestBodyOf(endpoint, body, components) }),
    responses: { ...successesOf(endpoint, components), ...refusalsOf(endpoint) },
  };
}

function describe({ scope, permission, limits, transport, eventStream }: Endpoint, dialect: Dialect): string {
  const parts = [
    scope !== undefined && `Needs the scope \`${inDialect(scope, dialect)}\`.`,
    permission !== undefined && `Needs the permission \`${permission}\` in the organization.`,
    limits?.timeoutMs !== undefined && `Clients give up after ${limits.timeoutMs / 1000} s.`,
    limits?.retryPausesMs !== undefined &&
      `Clients retry after ${limits.retryPausesMs.map((pause) => `${pause} ms`).join(', then ')}.`,
    limits?.pageSize !== undefined &&
      `A page has ${limits.pageSize} items where no \`limit\` is given, ${defaultLimits.maxPageSize} at most.`,
    transport === 'websocket' && 'A WebSocket (RFC 6455): the schema is that of a frame.',
    eventStream && 'Its frames come as server-sent events, too, with `Accept: text/event-stream`.',
    transport === 'sse' && "Server-sent events: the schema is that of an event's `data`.",
  ];
  return parts.filter(Boolean).join(' ');
}

function parametersOf(endpoint: Endpoint, dialect: Dialect): readonly JsonSchema[] {
  const of = (place: string, schema: z.ZodObject | undefined) =>
    Object.entries(schema?.shape ?? {}).map(([name, member]) =>
      toParameter(place, name, member as z.ZodType, dialect),
    );
  return [
    ...of('path', endpoint.params),
    ...of('query', endpoint.query),
    ...(endpoint.beta === undefined ? [] : [betaParameter(endpoint.beta, dialect)]),
    ...of('header', endpoint.headers),
  ];
}

function toParameter(place: string, name: string, member: z.ZodType, dialect: Dialect): JsonSchema {
  const { description, ...schema } = inlineSchema(member);
  return {
    name: place === 'header' ? inDialect(name, dialect) : name,
    in: place,
    ...(description !== undefined && { description }),
    required: !isOptional(member),
    schema,
  };
}

function betaParameter(beta: string, dialect: Dialect): JsonSchema {
  return {
    name: inDialect(headerNames.beta, dialect),
    in: 'header',
    description: `A comma-separated list that has \`${beta}\` among its members`,
    required: true,
    schema: { type: 'string', default: beta },
  };
}

function requestBodyOf(
  { encodings = ['json'], emptyBody }: Endpoint,
  body: z.ZodType,
  components: Components,
): JsonSchema {
  const content = encodings.map((encoding) => [
    mediaTypes[encoding][0],
    encoding === 'protobuf' ? {} : { schema: components.reference(body) },
  ]);
  return { required: emptyBody === undefined, content: Object.fromEntries(content) };
}

const answerTypes = {
  json: 'application/json',
  multipart: 'application/json',
  websocket: 'application/json',
  text: 'text/plain',
  page: 'text/html',
  sse: 'text/event-stream',
} as const;

const successDescriptions: Readonly<Record<string, string>> = {
  101: 'The connection is a WebSocket',
  201: 'Created',
  204: 'There is none',
  303: 'To the next page',
};

function successesOf(endpoint: Endpoint, components: Components): JsonSchema {
  const headers = {
    [headerNames.requestId]: { $ref: '#/components/headers/RequestId' },
    ...Object.fromEntries(
      Object.entries(endpoint.responseHeaders?.shape ?? {}).map(([name, member]) => [
        name,
        { schema: inlineSchema(member as z.ZodType) },
      ]),
    ),
  };
  const success = (status: string, schema: z.ZodType | null, type: string) => ({
    [status]: {
      description: successDescriptions[status] ?? 'Done',
      headers,
      ...(schema && { content: { [type]: { schema: components.reference(schema) } } }),
    },
  });
  const [frame] = Object.values(endpoint.responses);
  return Object.assign(
    {},
    ...Object.entries(endpoint.responses).map(([status, schema]) =>
      success(status, schema, answerTypes[endpoint.transport]),
    ),
    endpoint.eventStream === true && success('200', frame ?? null, answerTypes.sse),
  ) as JsonSchema;
}

/** Refusals by status; each stands once among the document's components. */
export const refusals: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'The request is malformed; `issues` names every bad field'],
  401: ['Unauthorized', 'The credential is missing or invalid'],
  403: ['Forbidden', 'The credential lacks a scope, a role or the beta header'],
  404: ['NotFound', 'There is no such thing, or it is of another organization'],
  409: ['Conflict', 'The state of the thing does not allow it'],
  413: ['TooLarge', 'The body, or the number of its events, is over the limit'],
  415: ['UnsupportedMediaType', 'The body is in an encoding that the endpoint does not take'],
  429: ['TooManyRequests', 'The rate limit is exceeded'],
  500: ['InternalError', 'Something went wrong at the service'],
  503: ['Unavailable', 'The service drains, is overloaded, or its store is away'],
};

function refusalsOf(endpoint: Endpoint): JsonSchema {
  return Object.fromEntries(
    refusalStatuses(endpoint).map((status) => [
      String(status),
      { $ref: `#/components/responses/${refusals[status]?.[0] ?? 'InternalError'}` },
    ]),
  );
}

import { endpoints, families, headerNames, type Area } from '../contract/index.ts';
import { inDialect, neutralDialect, type Dialect } from '../dialect.ts';
import { createComponents, type JsonSchema } from './components.ts';
import { refusals, securitySchemes, toOperation } from './operation.ts';

export interface OpenApiOptions {
  /** The version of the service that the document is of. */
  readonly version: string;
  /** Where the service is, such as `http://127.0.0.1:8787`. */
  readonly serverUrl: string;
  readonly dialect?: Dialect;
}

const areas = {
  oauth: 'OAuth 2.0 with PKCE and the device flow, profiles and API keys',
  devices: 'Trusted devices',
  bridge: 'The environment bridge: registration, polling, acknowledging and stopping work',
  sessions: 'Sessions and their event streams',
  worker: "The worker's handshake and its stream",
  environments: 'Managed environments',
  telemetry: 'Event batches and OTLP logs',
  feedback: 'Feedback bundles',
  account: 'Account bootstrap, access and managed settings',
  admin: "The organization's people, credentials, clients, settings and audit trail",
} as const satisfies Readonly<Record<Area, string>>;

/**
 * The contract as an OpenAPI 3.1 document. Rows that are not in the specification have `x-extension: true`.
 *
 * @example
 * const document = openApiDocument({ version: '0.1.0', serverUrl: 'http://127.0.0.1:8787' });
 */
export function openApiDocument({
  version,
  serverUrl,
  dialect = neutralDialect,
}: OpenApiOptions): JsonSchema {
  const components = createComponents();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const endpoint of endpoints) {
    const path = inDialect(endpoint.path, dialect);
    (paths[path] ??= {})[endpoint.method.toLowerCase()] = toOperation(endpoint, components, dialect);
  }
  const prefixes = families.map(({ prefix }) => `\`${inDialect(prefix, dialect)}\``).join(', ');
  return {
    openapi: '3.1.1',
    info: {
      title: 'Sallyport',
      version,
      summary: 'A self-hosted gateway for teams that run coding agents on their own machines',
      description: `Operations with \`x-extension: true\` are additions to the specification. What is under ${prefixes} is an upstream's, and not described here.`,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      schemas: components.schemas,
      headers: {
        RequestId: {
          description: "The request's id: the caller's own if it sent a sane one",
          schema: { type: 'string' },
        },
        RetryAfter: { description: 'Seconds until a retry may succeed', schema: { type: 'integer' } },
        WwwAuthenticate: { description: 'RFC 6750 3', schema: { type: 'string' } },
        RateLimit: { description: 'What is left of the budget', schema: { type: 'string' } },
        RateLimitPolicy: { description: 'The budget', schema: { type: 'string' } },
      },
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, [name, description]]) => [
          name,
          toResponse(Number(status), description),
        ]),
      ),
    },
  };
}

function toResponse(status: number, description: string): JsonSchema {
  const header = (name: string) => ({ $ref: `#/components/headers/${name}` });
  return {
    description,
    headers: {
      [headerNames.requestId]: header('RequestId'),
      ...((status === 401 || status === 403) && { 'www-authenticate': header('WwwAuthenticate') }),
      ...((status === 429 || status === 503) && { [headerNames.retryAfter]: header('RetryAfter') }),
      ...(status === 429 && {
        ratelimit: header('RateLimit'),
        'ratelimit-policy': header('RateLimitPolicy'),
      }),
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

import { inDialect, ServiceError, type Dialect, type Issue } from '@sallyport/core';
import type { Endpoint } from '@sallyport/core/contract';
import type { FastifyRequest } from 'fastify';
import { isRaw } from './body.ts';

/** The validated parts of a request; a part without a schema is `undefined`. */
export interface Parts {
  readonly headers: unknown;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Checks all parts against the row's schemas; throws `invalid_request` whose issues name every bad field at once. */
export function validate(
  endpoint: Endpoint,
  request: FastifyRequest,
  body: unknown,
  dialect: Dialect,
): Parts {
  const issues: Issue[] = [];
  const headerName = (name: string) => inDialect(name, dialect);
  const { headers, params, query } = endpoint;
  const parts = {
    headers: headers && check(headers, headersFor(endpoint, request, dialect), 'headers', issues, headerName),
    params: params && check(params, request.params, 'params', issues),
    query: query && check(query, request.query, 'query', issues),
    body: isRaw(body) ? body : endpoint.body && check(endpoint.body, body, '', issues),
  };
  if (issues.length === 0) return parts;
  const named = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new ServiceError('invalid_request', `Not as it must be: ${named.slice(0, 500)}.`, { issues });
}

function check(
  schema: NonNullable<Endpoint['body']>,
  value: unknown,
  prefix: string,
  issues: Issue[],
  name = (key: string) => key,
): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    const isMissing = path.length > 0 && at(value, path) === undefined;
    const [first, ...rest] = path.map(String);
    const steps = first === undefined ? [] : [name(first), ...rest];
    issues.push({
      path: [prefix, ...steps].filter(Boolean).join('/') || 'body',
      // An `error_description` of OAuth has no double quotes (RFC 6749 5.2).
      message: isMissing ? 'is required' : message.replaceAll('"', "'"),
    });
  }
  return undefined;
}

/** The headers that the row knows, under their neutral names. */
function headersFor(endpoint: Endpoint, request: FastifyRequest, dialect: Dialect): Record<string, unknown> {
  const headers: Record<string, unknown> = {};
  for (const name in endpoint.headers?.shape) {
    const value = request.headers[inDialect(name, dialect)];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** What stands at a path of a value. */
function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key],
    value,
  );
}

/** Managed environments, as the specification lists them. */
import { header, jsonContent, shown, type FieldLine, type SpecificationLine } from './line.ts';

const beta = header('vendor-beta', 'managed-agents-2026-04-01');

const plain = {
  credential: 'access token',
  headers: [beta],
  params: ['env_id'],
  query: [],
  success: [],
} as const;

const body: readonly FieldLine[] = [
  shown('machine_name', 'string'),
  shown('directory', 'string'),
  shown('metadata', 'object'),
];

/** The id has the prefix `env_`. */
const environment: readonly FieldLine[] = [shown('id', 'string'), ...body];

export const managedLines: readonly SpecificationLine[] = [
  {
    ...plain,
    method: 'POST',
    path: '/v1/environments',
    headers: [beta, jsonContent('shown')],
    params: [],
    body,
    success: [201],
    response: environment,
    errors: [400, 401, 403, 500],
  },
  {
    ...plain,
    method: 'GET',
    path: '/v1/environments/{env_id}',
    body: 'none',
    response: environment,
    errors: [401, 403, 404, 500],
  },
  {
    ...plain,
    method: 'POST',
    path: '/v1/environments/{env_id}',
    headers: [beta, jsonContent('shown')],
    body,
    response: environment,
    errors: [400, 401, 403, 404, 500],
  },
  {
    ...plain,
    method: 'GET',
    path: '/v1/environments',
    params: [],
    query: [shown('limit', 'integer', { default: 50 }), shown('offset', 'string'), shown('name', 'string')],
    body: 'none',
    // A bare JSON array, no envelope.
    response: environment.map((one) => ({ ...one, path: `[].${one.path}` })),
    errors: [401, 403, 500],
  },
  {
    ...plain,
    method: 'DELETE',
    path: '/v1/environments/{env_id}',
    body: 'none',
    response: 'not shown',
    errors: [401, 403, 404, 500],
  },
  {
    ...plain,
    method: 'POST',
    path: '/v1/environments/{env_id}/archive',
    headers: [beta, jsonContent('shown')],
    body: 'empty object',
    response: 'not shown',
    errors: [401, 403, 404, 409, 500],
  },
];

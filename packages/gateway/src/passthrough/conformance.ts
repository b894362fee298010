import { isJsonObject, ServiceError, type Dialect, type Issue } from '@sallyport/core';
import { defaultLimits, mediaTypes, refusalStatuses, type Endpoint } from '@sallyport/core/contract';
import type { FastifyRequest } from 'fastify';
import type { ValidationMode } from '../config/schema.ts';
import { parseForm, parseJson, parseOtlpJson } from '../http/body.ts';
import { validate } from '../http/validation.ts';
import type { Meter } from '../metrics/traffic.ts';
import type { Drift, Side } from './drift.ts';
import { unfit } from './failures.ts';
import type { InspectedHead } from './inspection.ts';
import type { Collected } from './upload.ts';

/** Holds what passes through to the contract. */
export interface Conformance {
  /** Whether what departs is refused. */
  readonly enforces: boolean;
  /** How much of a request's body is waited for. */
  readonly collected: Collected;
  /** `body`: absent where it streams. Throws `invalid_request` where it is enforced. */
  request(request: FastifyRequest, body: Buffer | null | undefined): void;
  /** Whether the body of such an answer is looked into. */
  looksInto(status: number, head: InspectedHead): boolean;
  /** `body`: decoded; `undefined`: too long. Throws `upstream_unfit` where it is enforced. */
  response(status: number, head: InspectedHead, body: Buffer | undefined): void;
}

export interface ConformanceOptions {
  readonly mode: ValidationMode;
  readonly dialect: Dialect;
  readonly drift: Drift;
  readonly meter: Meter;
}

/** `undefined`: nothing is looked at. */
export function conformanceTo(endpoint: Endpoint, options: ConformanceOptions): Conformance | undefined {
  const { mode, dialect, drift, meter } = options;
  if (mode === 'off') return undefined;
  const enforces = mode === 'enforce';
  const bytes = endpoint.limits?.bodyBytes ?? defaultLimits.bodyBytes;
  const isUnread = endpoint.encodings?.includes('multipart') === true || takesProtobuf(endpoint);

  function judge(side: Side, issues: readonly Issue[]): void {
    meter.checked[side]++;
    if (issues.length === 0) return;
    meter.departures[side]++;
    // What is wrong with many members of a list is one departure of the message.
    const kinds = new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue]));
    for (const issue of kinds.values()) drift.note({ row: endpoint.id, side, ...issue });
  }

  return {
    enforces,
    collected: isUnread ? { bytes: 0, unsaid: false } : { bytes, unsaid: enforces },
    request(request, body) {
      try {
        validate(endpoint, request, parsed(endpoint, request, body), dialect);
        judge('request', []);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const { issues, message } = error;
        judge('request', issues.length > 0 ? issues : [{ path: 'body', message }]);
        if (enforces) throw error;
      }
    },
    looksInto: (status, { contentType }) =>
      status < 300 && endpoint.transport === 'json' && isJson(contentType) && !takesProtobuf(endpoint),
    response(status, head, body) {
      const issues = responseIssues(endpoint, status, head, body);
      judge('response', issues);
      // A refusal is passed on in any case: it says more than one about it would.
      if (enforces && status < 300 && issues.length > 0) {
        const named = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
        throw unfit(`is not as it must be: ${named.slice(0, 500)}`);
      }
    },
  };
}

/** A body as the row's schema wants it; raw where it is not looked into. */
function parsed(endpoint: Endpoint, { headers }: FastifyRequest, body: Buffer | null | undefined): unknown {
  if (endpoint.body === undefined) return undefined;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (body === undefined || encoding !== 'identity' || takesProtobuf(endpoint)) return unread;
  if (body === null || body.length === 0) {
    if (endpoint.emptyBody !== undefined) return {};
    throw new ServiceError('invalid_request', 'The request has no body.');
  }
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaTypes.form.includes(type)) return parseForm(body.toString());
  if (endpoint.otlpJson) return parseOtlpJson(body);
  return mediaTypes.multipart.includes(type) ? unread : parseJson(body.toString());
}

const unread = new Uint8Array();

/** Its JSON has integers that are no numbers here: its engine reads it, nobody else. */
function takesProtobuf({ encodings }: Endpoint): boolean {
  return encodings?.includes('protobuf') === true;
}

function responseIssues(
  endpoint: Endpoint,
  status: number,
  { contentType }: InspectedHead,
  body: Buffer | undefined,
): readonly Issue[] {
  if (status >= 300)
    return status < 400 || refusalStatuses(endpoint).includes(status) || anyones.has(status)
      ? []
      : [{ path: 'status', message: `${status} is none of the row's` }];
  const schema = endpoint.responses[status];
  if (schema === undefined) return [{ path: 'status', message: `${status} is none of the row's` }];
  if (schema === null || endpoint.transport !== 'json' || takesProtobuf(endpoint)) return [];
  if (!isJson(contentType)) return [{ path: 'content-type', message: 'is not application/json' }];
  if (body === undefined) return [];
  let value: unknown;
  try {
    value = parseJson(body.toString());
  } catch {
    return [{ path: 'body', message: 'is not valid JSON' }];
  }
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map(({ path, message }) => issueAt(path, message, value));
}

/** What a server may say of any request at all. */
const anyones = new Set([404, 405, 408, 429, 501, 502, 503, 504]);

/** Members of a list count as one, whatever their place; what is missing is said as of a request. */
function issueAt(path: readonly PropertyKey[], message: string, value: unknown): Issue {
  let at: unknown = value;
  const steps = path.map((step) => {
    const name = Array.isArray(at) ? '*' : String(step);
    at = isJsonObject(at) || Array.isArray(at) ? (at as Record<PropertyKey, unknown>)[step] : undefined;
    return name;
  });
  const isMissing = steps.length > 0 && at === undefined;
  return { path: steps.join('/') || 'body', message: isMissing ? 'is required' : message };
}

function isJson(contentType: string): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(contentType);
}

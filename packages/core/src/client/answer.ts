import { ServiceError, TransportError, type Issue } from '../errors.ts';
import { headerNames } from '../contract/headers.ts';
import { isJsonObject } from '../json-object.ts';
import { retryAfterMs } from '../transport/retry.ts';
import type { TransportResponse } from '../transport/transport.ts';

/** Errors that an HTML page was read into. */
const pages = new WeakSet<Error>();

/** Whether a proxy or a portal in between said so, in a page for people: whatever its status, the service did not. */
export function isForeignPage(error: unknown): boolean {
  return error instanceof Error && pages.has(error);
}

/** Reads a refusal into the error that the service threw; anything else than the error shape is told as it came. */
export async function toServiceError(answer: TransportResponse, url: string, now: number): Promise<Error> {
  const text = await answer.text(1024 * 1024).catch(() => '');
  const requestId = answer.headers[headerNames.requestId];
  const retryMs = retryAfterMs(answer.headers[headerNames.retryAfter], now);
  const body = parseObject(text);
  if (!body || typeof body['error'] !== 'string') {
    const isPage = /^\s*</.test(text);
    const message = `${new URL(url).origin} answered ${answer.status} with ${isPage ? 'an HTML page' : 'no error body'}`;
    const unexpected = new TransportError('unexpected_answer', message);
    if (answer.status < 400) return unexpected;
    const refusal = new ServiceError(codeFor(answer.status), message, {
      status: answer.status,
      cause: unexpected,
      ...(requestId !== undefined && { requestId }),
      ...(retryMs !== undefined && { retryAfterMs: retryMs }),
    });
    if (isPage) pages.add(refusal);
    return refusal;
  }
  const { error, error_description: description, request_id: id, issues, ...details } = body;
  return new ServiceError(error, typeof description === 'string' ? description : error, {
    status: answer.status,
    details,
    ...(Array.isArray(issues) && { issues: issues.filter(isIssue) }),
    ...(typeof id === 'string' ? { requestId: id } : requestId !== undefined && { requestId }),
    ...(retryMs !== undefined && { retryAfterMs: retryMs }),
  });
}

/** Another server may put anything there. */
function isIssue(value: unknown): value is Issue {
  return isJsonObject(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';
}

/** A code for a status whose body has none, so that callers have one thing to match on. */
function codeFor(status: number): string {
  if (status === 401) return 'invalid_token';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  if (status === 413) return 'payload_too_large';
  if (status === 429) return 'rate_limited';
  return status < 500 ? 'invalid_request' : 'internal_error';
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

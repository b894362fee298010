import type { Endpoint } from './endpoint.ts';

/**
 * Every refusal that a row may answer with: those of the specification's errors table, and those that its checks imply,
 * which the specification lists for no endpoint (a malformed request, a body of the wrong type or size, a store that is
 * away).
 */
export function refusalStatuses(endpoint: Endpoint): readonly number[] {
  const { auth, scope, permission, beta, body, area, errors } = endpoint;
  const statuses = new Set([...errors, 400, 500, 503]);
  if (auth !== 'none' && auth !== 'optional') statuses.add(401);
  if (scope !== undefined || permission !== undefined || beta !== undefined) statuses.add(403);
  if (body !== undefined) {
    statuses.add(413);
    if (area !== 'oauth') statuses.add(415); // RFC 6749 5.2 knows no other than 400
  }
  return [...statuses].sort((a, b) => a - b);
}

/** Whether the gateway counts the calls of a row: those whose errors the specification lists 429 among. */
export function isRateLimited({ errors, area, auth }: Endpoint): boolean {
  // Calls that present a credential in the body count failures, not requests: the authorization server's business.
  return errors.includes(429) && !(area === 'oauth' && auth === 'none');
}

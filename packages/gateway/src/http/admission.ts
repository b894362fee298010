import { inDialect, ServiceError, type Dialect } from '@sallyport/core';
import { contract, headerNames, isRateLimited, type Endpoint, type Row } from '@sallyport/core/contract';
import { networkOf } from '@sallyport/oauth/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyCaller, Authenticator } from './callers.ts';
import { rateLimitHeaders, type RateLimiter } from './rate-limit.ts';

export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly dialect: Dialect;
  readonly gates?: Gates;
}

/** Refusals of a row's own, by its id: right after the credential's, before anything else is looked at. */
export type Gates = Readonly<Partial<Record<Row['id'], (caller: AnyCaller) => Promise<void>>>>;

/** What stands before a row, or before a family of paths. */
export type Guarded = Pick<Endpoint, 'auth' | 'scope' | 'permission' | 'beta'>;

/**
 * The checks that come before the body, in the order of docs/design.md: credential 401, scope and permission 403,
 * beta 403, rate 429. Gives who calls.
 */
export async function admit(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  options: AdmissionOptions,
): Promise<AnyCaller> {
  const caller = await readmit(endpoint, request, options);
  checkRate(endpoint, caller, request, reply, options.limiter);
  return caller;
}

/** A body that takes longer to come in is one whose sender may have lost its credential meanwhile. */
export const slowBodyMs = 1000;

/** The same checks once more, of a request that has taken its place in the rate: what it was let in by may have ended. */
export function readmit(
  endpoint: Endpoint,
  request: FastifyRequest,
  options: AdmissionOptions,
): Promise<AnyCaller> {
  return guard(endpoint, request, { ...options, gate: options.gates?.[endpoint.id as Row['id']] });
}

/** All of `admit` but the rate. */
export async function guard(
  guarded: Guarded,
  request: FastifyRequest,
  {
    authenticator,
    dialect,
    gate,
  }: Pick<AdmissionOptions, 'authenticator' | 'dialect'> & { gate?: Gates[Row['id']] },
): Promise<AnyCaller> {
  const caller = await identify(guarded, request, authenticator);
  await gate?.(caller);
  checkRights(guarded, caller, dialect);
  checkBeta(guarded, request, dialect);
  return caller;
}

async function identify(
  endpoint: Guarded,
  request: FastifyRequest,
  authenticator: Authenticator,
): Promise<AnyCaller> {
  switch (endpoint.auth) {
    case 'none':
      return undefined;
    case 'access_token':
      return authenticator.accessToken(credentialOf(request));
    case 'session_key':
      return authenticator.sessionKey(credentialOf(request));
    case 'ingress':
      return authenticator.ingress(credentialOf(request));
    case 'optional':
      if (!sentCredential(request)) return undefined;
      return (
        (await orNobody(async () => authenticator.accessToken(credentialOf(request)))) ??
        (await orNobody(async () => authenticator.sessionKey(credentialOf(request))))
      );
  }
}

/** An invalid credential counts as none; a store that does not answer does not. */
async function orNobody<T>(identified: () => Promise<T>): Promise<T | undefined> {
  try {
    return await identified();
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401) return undefined;
    throw error;
  }
}

export function sentCredential({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.authorization !== undefined || headers[headerNames.apiKey] !== undefined;
}

/** RFC 6750 2.1; an API key may come as `x-api-key` too. */
function credentialOf({ headers }: FastifyRequest): string {
  const key = headers[headerNames.apiKey];
  if (headers.authorization === undefined && typeof key === 'string' && key !== '') return key;
  if (headers.authorization === undefined)
    throw new ServiceError('invalid_token', 'This needs a credential: Authorization: Bearer <token>.');
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(headers.authorization)?.[1];
  if (token === undefined) throw new ServiceError('invalid_token', 'The credential is not a bearer token.');
  return token;
}

function checkRights(endpoint: Guarded, caller: AnyCaller, dialect: Dialect): void {
  const { scope, permission } = endpoint;
  if (caller === undefined || !('scopes' in caller)) return;
  if (scope !== undefined && !caller.scopes.includes(scope)) {
    const named = inDialect(scope, dialect);
    throw new ServiceError('insufficient_scope', `This needs the scope ${named}.`, {
      details: { scope: named },
    });
  }
  if (permission !== undefined && !caller.permissions.includes(permission))
    throw new ServiceError('forbidden', `This needs the permission ${permission} in the organization.`, {
      details: { permission },
    });
}

/** A list: any member, comma-separated or of a repeated header, will do. */
function checkBeta(endpoint: Guarded, request: FastifyRequest, dialect: Dialect): void {
  if (endpoint.beta === undefined) return;
  const name = inDialect(headerNames.beta, dialect);
  const sent = [request.headers[name] ?? []].flat().flatMap((value) => value.split(','));
  if (sent.some((member) => member.trim() === endpoint.beta)) return;
  throw new ServiceError('beta_not_enabled', `This needs the header ${name}: ${endpoint.beta}.`);
}

function checkRate(
  endpoint: Endpoint,
  caller: AnyCaller,
  request: FastifyRequest,
  reply: FastifyReply,
  limiter: RateLimiter,
): void {
  if (!isRateLimited(endpoint)) return;
  const budget = limiter.take(endpoint.id, keyOf(caller) ?? networkOf(request.ip));
  if (budget === undefined) return;
  reply.headers(rateLimitHeaders(budget));
  if (!budget.allowed)
    throw new ServiceError('rate_limited', 'Too many requests.', { retryAfterMs: budget.retryAfterMs });
}

/** What a worker's token is given for: the row that gives it asks for no less. */
export const workerPermission = contract.worker.bridge.permission;

/** What whoever is behind the call has to be allowed for as long as its answer lasts. */
export function lastingPermission({ auth, permission }: Guarded): string | undefined {
  return auth === 'ingress' ? workerPermission : permission;
}

function keyOf(caller: AnyCaller): string | undefined {
  if (caller === undefined) return undefined;
  return 'scopes' in caller ? caller.grantId : caller.sessionId;
}

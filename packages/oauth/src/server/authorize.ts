import { ServiceError } from '@sallyport/core';
import { checkGrantType } from './clients.ts';
import { missing, sentParameters, type Context } from './context.ts';
import { isChallenge } from './pkce.ts';
import { matchesRedirectUri, withParameters } from './redirect-uri.ts';
import type { Client } from './records.ts';
import { isWithin, scopeList } from './scopes.ts';
import { scopeFromWire } from './wire-scopes.ts';
import { hashSecret, newSecret } from './secrets.ts';

/** Who is signed in. */
export interface SignedIn {
  readonly accountId: string;
  readonly sessionId: string;
}

/** An authorization request that has passed every check but the person's consent. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  /** In neutral words. */
  readonly scope: string;
  readonly state: string | undefined;
  readonly challenge: string;
  /** The only one that it may be approved for, where the client named one. */
  readonly organizationId: string | undefined;
}

/** What a browser's request comes to: `ask` the person, or go to `location` with the error at once. */
export type BrowserRequest =
  | { readonly outcome: 'ask'; readonly request: AuthorizationRequest }
  | { readonly outcome: 'redirect'; readonly location: string };

/** The authorization endpoint (RFC 6749 4.1, 7636, 9207), for scripts and for browsers. */
export interface Authorization {
  /** Issues a code to a session without a browser; gives the redirect address. */
  authorize(
    signedIn: SignedIn,
    organizationId: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<{ redirect_uri: string }>;
  /** Judges a browser's request; throws only what must not be redirected: a bad client or redirect URI. */
  readBrowserRequest(query: URLSearchParams): Promise<BrowserRequest>;
  /**
   * The person agreed: issues the code; gives the redirect address. Throws `forbidden` to whom is no member, and for another
   * organization than the client asked for.
   */
  approve(signedIn: SignedIn, organizationId: string, request: AuthorizationRequest): Promise<string>;
  /** The person declined; gives the redirect address. */
  deny(request: AuthorizationRequest): string;
}

type Sent = Readonly<Record<string, string | undefined>>;

export function createAuthorization(context: Context): Authorization {
  const { store, clock, random, issuer, config } = context;
  const { acts, reads } = store;

  /** The part that decides whether an answer may be sent anywhere. */
  async function readTarget(sent: Sent): Promise<{ readonly client: Client; readonly redirectUri: string }> {
    const { client_id: clientId, redirect_uri: redirectUri } = sent;
    if (clientId === undefined) throw missing('client_id');
    const client = await reads.client({ clientId });
    if (!client) throw new ServiceError('invalid_request', 'The client is not known.');
    if (redirectUri === undefined) throw missing('redirect_uri');
    if (!matchesRedirectUri(client.redirectUris, redirectUri))
      throw new ServiceError('invalid_request', 'The redirect_uri is not registered for this client.');
    return { client, redirectUri };
  }

  /** The rest, whose errors the client may be told. */
  function readRequest(sent: Sent, client: Client, redirectUri: string): AuthorizationRequest {
    const { response_type: responseType, code_challenge: challenge, state } = sent;
    if (responseType === undefined) throw missing('response_type');
    if (responseType !== 'code')
      throw new ServiceError('unsupported_response_type', 'The response_type must be code.');
    checkGrantType(client, 'authorization_code');
    if (challenge === undefined) throw missing('code_challenge');
    if (sent['code_challenge_method'] !== 'S256')
      throw new ServiceError('invalid_request', 'The code_challenge_method must be S256.');
    if (!isChallenge(challenge))
      throw new ServiceError('invalid_request', 'The code_challenge must be 43 base64url characters.');
    if (state !== undefined && !state.isWellFormed())
      throw new ServiceError('invalid_request', 'The state is not well-formed Unicode.');
    const { organization_uuid: organizationId } = sent;
    const scope = requestedScope(context, client, sent['scope']);
    return { client, redirectUri, scope, state, challenge, organizationId };
  }

  async function issue(
    signedIn: SignedIn,
    organizationId: string,
    request: AuthorizationRequest,
  ): Promise<string> {
    const code = newSecret(random, 'code');
    await acts.addCode({
      code: {
        hash: hashSecret(code),
        clientId: request.client.id,
        accountId: signedIn.accountId,
        organizationId,
        sessionId: signedIn.sessionId,
        redirectUri: request.redirectUri,
        scope: request.scope,
        challenge: request.challenge,
        expiresAt: clock.now() + config.codeSeconds * 1000,
        mismatches: 0,
        usedAt: null,
        familyId: null,
      },
    });
    return answer(request.redirectUri, { code, state: request.state });
  }

  function answer(redirectUri: string, parameters: Readonly<Record<string, string | undefined>>): string {
    return withParameters(redirectUri, { ...parameters, iss: config.issParameter ? issuer : undefined });
  }

  async function isMember(accountId: string, organizationId: string): Promise<boolean> {
    const memberships = await reads.memberships({ accountId });
    return memberships.some(({ organization }) => organization.id === organizationId);
  }

  return {
    async authorize(signedIn, organizationId, body) {
      const sent = sentParameters(body);
      const { client, redirectUri } = await readTarget(sent);
      if (sent['state'] === undefined) throw missing('state');
      const request = readRequest(sent, client, redirectUri);
      if (sent['organization_uuid'] !== organizationId)
        throw new ServiceError('invalid_request', 'organization_uuid is not the organization of the path.');
      if (!(await isMember(signedIn.accountId, organizationId))) {
        if (!(await reads.organization({ organizationId })))
          throw new ServiceError('invalid_request', 'The organization is not known.');
        throw noMember();
      }
      return { redirect_uri: await issue(signedIn, organizationId, request) };
    },

    async readBrowserRequest(query) {
      const allRepeated = repeatedIn(query);
      const untold = ['client_id', 'redirect_uri'].find((name) => allRepeated.has(name));
      if (untold !== undefined) throw sentTwice(untold);
      const [repeated] = allRepeated;
      const sent = sentParameters(Object.fromEntries(query));
      const { client, redirectUri } = await readTarget(sent);
      try {
        if (repeated !== undefined) throw sentTwice(repeated);
        return { outcome: 'ask', request: readRequest(sent, client, redirectUri) };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const state = allRepeated.has('state') ? undefined : sent['state']?.toWellFormed();
        const parameters = { error: error.code, error_description: error.message, state };
        return { outcome: 'redirect', location: answer(redirectUri, parameters) };
      }
    },

    async approve(signedIn, organizationId, request) {
      // The client would take the tokens for those of the organization that it named.
      if ((request.organizationId ?? organizationId) !== organizationId)
        throw new ServiceError('forbidden', 'The program asks for another organization.');
      if (!(await isMember(signedIn.accountId, organizationId))) throw noMember();
      return issue(signedIn, organizationId, request);
    },

    deny({ redirectUri, state }) {
      const denied = { error: 'access_denied', error_description: 'The request was denied.' };
      return answer(redirectUri, { ...denied, state });
    },
  };
}

/** The parameters that are sent more than once, which none may be (RFC 6749 3.1). */
function repeatedIn(query: URLSearchParams): ReadonlySet<string> {
  const once = new Set<string>();
  const more = new Set<string>();
  for (const name of query.keys()) (once.has(name) ? more : once).add(name);
  return more;
}

/** Names what a client may have written, and nothing that an `error_description` must not have (RFC 6749 4.1.2.1). */
function sentTwice(name: string): ServiceError {
  return new ServiceError(
    'invalid_request',
    `${/^\w{1,64}$/.test(name) ? name : 'A parameter'} is sent twice.`,
  );
}

/** What a client asked for, in neutral words; all that it is allowed where it asked for nothing. Throws `invalid_scope`. */
export function requestedScope(
  { dialect }: Pick<Context, 'dialect'>,
  client: Client,
  scope: string | undefined,
): string {
  const neutral = scopeFromWire(scope ?? '', dialect);
  if (neutral === '') return client.scope;
  if (!isWithin(neutral, client.scope))
    throw new ServiceError('invalid_scope', 'The scope exceeds what the client may have.');
  return scopeList(neutral).join(' ');
}

export function noMember(): ServiceError {
  return new ServiceError('forbidden', 'The account is not a member of this organization.');
}

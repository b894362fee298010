import { isLoopback, ServiceError, type Dialect } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import type { AuthorizationRequest, AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorPage, toDocument, type Answer } from './answer.ts';
import { decisionButtons, organizationField, scopeItems } from './approval.ts';
import { html } from './html.ts';
import type { SignInPages } from './sign-in.ts';
import type { Fields, Visit, Visits } from './visit.ts';

/** The authorization endpoint for browsers: sign-in, then consent, then back to the client (RFC 6749 4.1.1). */
export interface ConsentPage {
  /** Answers the contract's row: the document, `undefined` for a redirect. */
  show(request: FastifyRequest, reply: FastifyReply): Promise<string | undefined>;
  submit(visit: Visit, fields: Fields): Promise<Answer>;
}

export function createConsentPage(
  { authorization, organizations }: AuthorizationServer,
  options: { readonly visits: Visits; readonly signIn: SignInPages; readonly dialect: Dialect },
): ConsentPage {
  const { visits, signIn, dialect } = options;
  const { base } = visits;

  async function answer(visit: Visit): Promise<Answer> {
    const { signedIn, query } = visit;
    // Judged before the sign-in: nobody is asked for a password on behalf of a bad request.
    const read = await authorization.readBrowserRequest(query);
    if (read.outcome === 'redirect') return { location: read.location };
    if (!signedIn) return signIn.detour(base + authorizePath(query));
    return question(visit, signedIn, read.request);
  }

  async function question(
    { query, formProof }: Visit,
    { accountId, email }: NonNullable<Visit['signedIn']>,
    { client, redirectUri, scope, organizationId }: AuthorizationRequest,
  ): Promise<Answer> {
    return {
      title: `Log ${client.name} in?`,
      formTarget: redirectUri,
      body: html`<p>
          Approve only if you started this yourself. You are signed in as <strong>${email}</strong>.
        </p>
        <dl>
          <dt>Answer goes to</dt>
          <dd>${destination(redirectUri)}</dd>
          <dt>It may</dt>
          <dd>${scopeItems(scope, dialect)}</dd>
        </dl>
        <form method="post" action="${base}/consent">
          ${formProof}
          <input type="hidden" name="request" value="${query.toString()}" />
          ${organizationField(await organizations.of(accountId), organizationId)} ${decisionButtons}
        </form>`,
    };
  }

  return {
    async show(request, reply) {
      try {
        return toDocument(reply, await answer(await visits.visit(request, reply)));
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        const next = html`<p>The program that sent you here has to be set right; nothing was sent to it.</p>`;
        return toDocument(reply, errorPage(error, next));
      }
    },

    async submit({ signedIn }, fields) {
      const query = new URLSearchParams(fields.get('request') ?? '');
      // The request came back from the browser: it is judged as if it were new.
      const read = await authorization.readBrowserRequest(query);
      if (read.outcome === 'redirect') return { location: read.location };
      if (!signedIn) return signIn.detour(base + authorizePath(query));
      const decision = fields.get('decision');
      if (decision === 'deny') return { location: authorization.deny(read.request) };
      if (decision !== 'approve')
        throw new ServiceError('invalid_request', 'The form says neither approve nor deny.');
      const location = await authorization.approve(signedIn, fields.get('organization') ?? '', read.request);
      return { location };
    },
  };
}

/** Where the request of that query is asked about. */
export function authorizePath(query: Fields): string {
  return `${contract.oauth.authorizePage.path}?${query.toString()}`;
}

function destination(redirectUri: string): string {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (isLoopback(hostname)) return 'a program on this computer';
  return protocol === 'https:' ? host : `the app that opens ${protocol}`;
}

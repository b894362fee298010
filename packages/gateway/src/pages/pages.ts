import { ServiceError, type Dialect, type Random } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorPage, toDocument, type Answer } from './answer.ts';
import { createConsentPage, type ConsentPage } from './consent.ts';
import { createDevicePage } from './device.ts';
import { html } from './html.ts';
import { createSetupPage } from './setup.ts';
import { createSignInPages } from './sign-in.ts';
import { createVisits, type Fields, type Visit } from './visit.ts';

/** The pages for browsers. */
export interface Pages {
  /** For the contract's row `oauth.authorizePage`. */
  readonly consent: ConsentPage;
  /** Registers the others, in a Fastify scope of their own: their bodies are forms, their errors pages. */
  register(app: FastifyInstance): void;
}

type Show = (visit: Visit) => Promise<Answer>;
type Submit = (visit: Visit, fields: Fields, request: FastifyRequest, reply: FastifyReply) => Promise<Answer>;

const maxFormBytes = 64 * 1024;

export function createPages(
  server: AuthorizationServer,
  { dialect, random }: { readonly dialect: Dialect; readonly random: Random },
): Pages {
  const visits = createVisits(server, random);
  const signIn = createSignInPages(server, visits);
  const setup = createSetupPage(server, visits);
  const device = createDevicePage(server, { visits, signIn, dialect });
  const consent = createConsentPage(server, { visits, signIn, dialect });

  function register(app: FastifyInstance): void {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxFormBytes },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    app.setErrorHandler((thrown, request, reply) => {
      const error = toServiceError(thrown);
      if (error.status >= 500) request.log.error({ err: thrown }, 'a page failed');
      return reply.send(toDocument(reply, errorPage(error, nextStep(error))));
    });

    const get = (path: string, show: Show) => {
      app.get(path, async (request, reply) => {
        const visit = await visits.visit(request, reply);
        return reply.send(toDocument(reply, await show(visit)));
      });
    };
    const post = (path: string, submit: Submit) => {
      app.post(path, async (request, reply) => {
        const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
        visits.checkForm(request, fields);
        const visit = await visits.visit(request, reply);
        return reply.send(toDocument(reply, await submit(visit, fields, request, reply)));
      });
    };
    get('/setup', (visit) => setup.show(visit));
    post('/setup', (visit, fields, _request, reply) => setup.submit(reply, visit, fields));
    get('/login', (visit) => signIn.show(visit));
    post('/login', (visit, fields, request, reply) => signIn.submit(request, reply, visit, fields));
    post('/logout', (visit, _fields, _request, reply) => signIn.leave(reply, visit));
    get('/device', (visit) => device.show(visit));
    post('/device', (visit, fields) => device.submit(visit, fields));
    post('/consent', (visit, fields) => consent.submit(visit, fields));
  }

  function nextStep({ code, retryAfterMs }: ServiceError) {
    const { base } = visits;
    if (retryAfterMs !== undefined) return html`<p>Try again in ${Math.ceil(retryAfterMs / 60_000)} min.</p>`;
    if (code === 'not_found')
      return html`<p>
        Whoever runs the gateway gets a new link by starting it with <code>--print-setup</code>. Or
        <a href="${base}/login">sign in</a>.
      </p>`;
    return html`<p>
      <a href="${base}/device">Enter a device code</a>, or <a href="${base}/login">sign in</a> anew.
    </p>`;
  }

  return { consent, register };
}

/** Fastify's own refusals (a body that is too large, or no form) have a status below 500. */
function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { statusCode } = (thrown ?? {}) as { readonly statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ServiceError('invalid_request', 'The form could not be read.', { status: statusCode });
  return new ServiceError('internal_error', 'The gateway could not answer.', { cause: thrown });
}

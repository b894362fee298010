import { ServiceError, type Dialect, type Random } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { pathOf } from '../http/paths.ts';
import type { Elsewhere } from '../http/refusals.ts';
import { createAccountPage } from './account.ts';
import { errorPage, toDocument, type Answer } from './answer.ts';
import { authorizePath, createConsentPage, type ConsentPage } from './consent.ts';
import { createDevicePage } from './device.ts';
import { html } from './html.ts';
import { waitText } from './moment.ts';
import { createPasswordPage } from './password.ts';
import type { PagePath } from './paths.ts';
import { createSetupPage } from './setup.ts';
import { createSignInPages } from './sign-in.ts';
import { createVisits, type Fields, type Visit } from './visit.ts';

/** The pages for browsers. */
export interface Pages {
  /** For the contract's row `oauth.authorizePage`. */
  readonly consent: ConsentPage;
  /** Registers the others, in a Fastify scope of their own: their bodies are forms, their errors pages. */
  register(app: FastifyInstance): void;
  /** The front door, and the page for what is not there. */
  readonly elsewhere: Elsewhere;
}

type Show = (visit: Visit) => Answer | Promise<Answer>;
type Submit = (visit: Visit, fields: Fields, reply: FastifyReply) => Promise<Answer>;
/** Where a form that was sent is to be found anew, with what it was about: a path below the base. */
type PlaceOf = (fields: Fields) => string;

const maxFormBytes = 64 * 1024;

export function createPages(
  server: AuthorizationServer,
  { dialect, random }: { readonly dialect: Dialect; readonly random: Random },
): Pages {
  const visits = createVisits(server, random);
  const signIn = createSignInPages(server, visits);
  const setup = createSetupPage(server, visits);
  const account = createAccountPage(server, { visits, signIn });
  const password = createPasswordPage(server, { visits, signIn });
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
    // Browsers ask by themselves.
    app.get('/favicon.ico', { logLevel: 'silent' }, (_request, reply) =>
      reply.code(204).header('cache-control', 'public, max-age=86400').send(),
    );

    const get = (path: PagePath, show: Show) => {
      app.get(path, async (request, reply) => {
        const visit = await visits.visit(request, reply);
        return reply.send(toDocument(reply, await show(visit)));
      });
    };
    const post = (path: PagePath, submit: Submit, placeOf: PlaceOf = () => path) => {
      app.post(path, async (request, reply) => {
        const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
        if (!visits.isOurs(request, fields)) return reply.send(toDocument(reply, voidForm(placeOf(fields))));
        const visit = await visits.visit(request, reply);
        return reply.send(toDocument(reply, await submit(visit, fields, reply)));
      });
    };
    get('/setup', (visit) => setup.show(visit));
    post('/setup', (visit, fields, reply) => setup.submit(reply, visit, fields), about('/setup', 'token'));
    get('/login', (visit) => signIn.show(visit));
    post('/login', (visit, fields, reply) => signIn.submit(reply, visit, fields), about('/login', 'next'));
    post(
      '/logout',
      (visit, _fields, reply) => signIn.leave(reply, visit),
      () => '/account',
    );
    get('/account', (visit) => account.show(visit));
    post('/account', (visit, fields) => account.submit(visit, fields));
    get('/account/password', (visit) => password.show(visit));
    post('/account/password', (visit, fields, reply) => password.submit(reply, visit, fields));
    get('/device', (visit) => device.show(visit));
    post('/device', (visit, fields) => device.submit(visit, fields), about('/device', 'user_code'));
    post(
      '/consent',
      (visit, fields) => consent.submit(visit, fields),
      (fields) => authorizePath(new URLSearchParams(fields.get('request') ?? '')),
    );
  }

  /** Another window may have signed in, or out, since the form was made. */
  function voidForm(place: string): Answer {
    const error = new ServiceError('forbidden', 'The form has expired, or was not sent from this site.');
    return errorPage(error, html`<p><a href="${visits.base}${place}">Open the form again</a></p>`);
  }

  function nextStep({ retryAfterMs }: ServiceError) {
    const { base } = visits;
    if (retryAfterMs !== undefined) return html`<p>Try again in ${waitText(retryAfterMs)}.</p>`;
    return html`<p>
      <a href="${base}/account">Your account</a> &middot; <a href="${base}/device">Enter a device code</a>
    </p>`;
  }

  return {
    consent,
    register,
    elsewhere(request, reply, error) {
      const { method, url, headers } = request;
      const isVisit = method === 'GET' || method === 'HEAD';
      if (!isVisit || headers.accept?.includes('text/html') !== true) return undefined;
      const { base } = visits;
      const answer = pathOf(url) === '/' ? { location: `${base}/login` } : errorPage(error, nextStep(error));
      return { document: toDocument(reply, answer) };
    },
  };
}

/** The page with the one parameter that its form had hidden. */
function about(path: PagePath, name: string): PlaceOf {
  return (fields) => `${path}?${new URLSearchParams({ [name]: fields.get(name) ?? '' }).toString()}`;
}

/** Fastify's own refusals (a body that is too large, or no form) have a status below 500. */
function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { statusCode } = (thrown ?? {}) as { readonly statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ServiceError('invalid_request', 'The form could not be read.', { status: statusCode });
  return new ServiceError('internal_error', 'The gateway could not answer.', { cause: thrown });
}

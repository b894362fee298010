import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from './answer.ts';
import { html, type Html } from './html.ts';
import { localPath, type Fields, type Visit, type Visits } from './visit.ts';

/** `/login` and `/logout`. */
export interface SignInPages {
  show(visit: Visit): Promise<Answer>;
  submit(request: FastifyRequest, reply: FastifyReply, visit: Visit, fields: Fields): Promise<Answer>;
  leave(reply: FastifyReply, visit: Visit): Promise<Answer>;
  /** The way to sign in and come back to `path`. */
  detour(path: string): Answer;
}

export function createSignInPages(server: AuthorizationServer, visits: Visits): SignInPages {
  const { base } = visits;

  return {
    async show(visit) {
      const next = localPath(visit.query.get('next'));
      if (!visit.signedIn) return form(visit, { next });
      return next === undefined ? signedInPage(visit, visit.signedIn.email) : { location: next };
    },

    async submit(request, reply, visit, fields) {
      const next = localPath(fields.get('next'));
      const email = fields.get('email') ?? '';
      try {
        const session = await server.accounts.signIn(email, fields.get('password') ?? '', request.ip);
        visits.signIn(reply, session);
        return { location: next ?? `${base}/login` };
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        return {
          ...form(visit, { next, email, error }),
          status: error.status,
          retryAfterMs: error.retryAfterMs,
        };
      }
    },

    async leave(reply, { signedIn }) {
      if (signedIn) await server.sessions.end(signedIn.sessionId);
      visits.signOut(reply);
      return { location: `${base}/login` };
    },

    detour: (path) => ({ location: `${base}/login?next=${encodeURIComponent(path)}` }),
  };

  function form(
    { formProof }: Visit,
    { next, email = '', error }: { next: string | undefined; email?: string; error?: ServiceError },
  ) {
    return {
      title: 'Sign in',
      body: html`${alertOf(error?.message)}
        <form method="post" action="${base}/login">
          ${formProof}
          <input type="hidden" name="next" value="${next ?? ''}" />
          <label for="email">E-mail address</label>
          <input
            id="email"
            name="email"
            type="text"
            inputmode="email"
            value="${email}"
            autocomplete="username"
            required
            ${autofocus(email === '')}
          />
          <label for="password">Password</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
            ${autofocus(email !== '')}
          />
          <button>Sign in</button>
        </form>
        <p class="dim">
          No password yet, or forgotten? Whoever runs the gateway sets one with
          <code>sallyport-gateway admin user password</code>.
        </p>`,
    };
  }

  function signedInPage({ formProof }: Visit, email: string) {
    return {
      title: 'You are signed in',
      body: html`<p>As <strong>${email}</strong>.</p>
        <p>
          This gateway hands work to coding agents on your machines. On one of them,
          <code>sallyport login</code> logs it in, and <code>sallyport bridge run</code> takes work there.
        </p>
        <p><a href="${base}/device">Enter a device code</a></p>
        <form method="post" action="${base}/logout">
          ${formProof}<button class="quiet">Sign out</button>
        </form>`,
    };
  }
}

export function alertOf(problem: Html | string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="alert" role="alert">${problem}</p>`;
}

function autofocus(isFirst: boolean): Html | undefined {
  return isFirst ? html`autofocus` : undefined;
}

import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply } from 'fastify';
import type { Answer } from './answer.ts';
import { alertOf, textField } from './form.ts';
import { html } from './html.ts';
import { goTo, noticeOf } from './notice.ts';
import { localPath, type Fields, type Visit, type Visits } from './visit.ts';

/** The same for an address that is nobody's: who guesses is not to learn which there are. */
const lockedOut = html`<p class="dim">
  Locked out? An admin of your organization ends that with
  <code>sallyport admin people unlock</code>.
</p>`;

/** `/login` and `/logout`. */
export interface SignInPages {
  show(visit: Visit): Promise<Answer>;
  submit(reply: FastifyReply, visit: Visit, fields: Fields): Promise<Answer>;
  leave(reply: FastifyReply, visit: Visit): Promise<Answer>;
  /** The way to sign in and come back to `path`. */
  detour(path: string): Answer;
}

export function createSignInPages(server: AuthorizationServer, visits: Visits): SignInPages {
  const { base } = visits;
  const home = `${base}/account`;

  return {
    async show(visit) {
      const next = localPath(visit.query.get('next'));
      return visit.signedIn ? { location: next ?? home } : form(visit, { next });
    },

    async submit(reply, visit, fields) {
      const next = localPath(fields.get('next'));
      const email = fields.get('email') ?? '';
      try {
        const session = await server.accounts.signIn(email, fields.get('password') ?? '', visit.origin);
        visits.signIn(reply, session);
        return { location: next ?? home };
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        return form(visit, { next, email, error });
      }
    },

    async leave(reply, { signedIn }) {
      if (signedIn) await server.sessions.end(signedIn);
      visits.signOut(reply);
      return goTo(`${base}/login`, 'signed-out');
    },

    detour: (path) => ({ location: `${base}/login?next=${encodeURIComponent(path)}` }),
  };

  function form(
    { formProof, query }: Visit,
    { next, email = '', error }: { next: string | undefined; email?: string; error?: ServiceError },
  ): Answer {
    const notice = noticeOf(query);
    return {
      title: 'Sign in',
      error,
      body: html`${notice} ${alertOf(error)}
        <form method="post" action="${base}/login">
          ${formProof}
          <input type="hidden" name="next" value="${next ?? ''}" />
          ${textField({
            name: 'email',
            label: 'E-mail address',
            type: 'text',
            autocomplete: 'username',
            value: email,
            isFirst: email === '' && notice === undefined,
            attributes: html`inputmode="email" autocapitalize="none" spellcheck="false"`,
            error,
          })}
          ${textField({
            name: 'password',
            label: 'Password',
            type: 'password',
            autocomplete: 'current-password',
            isFirst: email !== '',
            error,
          })}
          <button>Sign in</button>
        </form>
        ${error?.code === 'rate_limited' ? lockedOut : undefined}
        <p class="dim">
          No password yet, or forgotten? Whoever runs the gateway sets one with
          <code>sallyport-gateway admin user password</code>.
        </p>`,
    };
  }
}

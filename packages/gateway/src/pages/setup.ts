import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply } from 'fastify';
import type { Answer, Page } from './answer.ts';
import { alertOf, newPassword, newPasswordFields, usernameField } from './form.ts';
import { html } from './html.ts';
import type { Fields, Visit, Visits } from './visit.ts';

/** `/setup?token=`: sets the password of an account by a one-time link, and signs in. */
export interface SetupPage {
  show(visit: Visit): Promise<Answer>;
  submit(reply: FastifyReply, visit: Visit, fields: Fields): Promise<Answer>;
}

export function createSetupPage({ accounts, config }: AuthorizationServer, visits: Visits): SetupPage {
  const { base } = visits;
  const { minLength } = config.password;

  return {
    show: ({ query, formProof }) => form(query.get('token') ?? '', formProof),
    async submit(reply, { formProof, origin }, fields) {
      const token = fields.get('token') ?? '';
      try {
        visits.signIn(reply, await accounts.setUp(token, newPassword(fields), origin));
        return { location: `${base}/account` };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (error.code === 'not_found') return spentPage();
        if (error.code !== 'invalid_request') throw error;
        return form(token, formProof, error);
      }
    },
  };

  function spentPage(): Page {
    return {
      title: 'This link is spent',
      status: 404,
      body: html`<p role="alert">This link was used, replaced by a newer one, or has expired.</p>
        <p>
          If the password is set, <a href="${base}/login">sign in</a>. Else whoever runs the gateway makes a
          new link with <code>sallyport-gateway admin user password EMAIL</code>.
        </p>`,
    };
  }

  /** Does not spend the link: mail scanners and previews open it too. */
  async function form(token: string, formProof: Visit['formProof'], error?: ServiceError): Promise<Answer> {
    const account = await accounts.setupAccount(token);
    if (!account) return spentPage();
    return {
      title: 'Set your password',
      error,
      body: html`<p>For the account <strong>${account.email}</strong>.</p>
        ${alertOf(error)}
        <form method="post" action="${base}/setup">
          ${formProof}
          <input type="hidden" name="token" value="${token}" />
          ${usernameField(account.email)} ${newPasswordFields(minLength, { isFirst: true, error })}
          <button>Set the password and sign in</button>
        </form>`,
    };
  }
}

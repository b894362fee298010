import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply } from 'fastify';
import type { Answer } from './answer.ts';
import { alertOf, newPassword, newPasswordFields, textField, usernameField } from './form.ts';
import { html } from './html.ts';
import { goTo } from './notice.ts';
import type { SignInPages } from './sign-in.ts';
import type { Fields, Visit, Visits } from './visit.ts';

/** `/account/password`: a new password for who knows the present one. */
export interface PasswordPage {
  show(visit: Visit): Answer;
  submit(reply: FastifyReply, visit: Visit, fields: Fields): Promise<Answer>;
}

export function createPasswordPage(
  { accounts, config }: AuthorizationServer,
  { visits, signIn }: { readonly visits: Visits; readonly signIn: SignInPages },
): PasswordPage {
  const { base } = visits;
  const path = `${base}/account/password`;

  return {
    show: (visit) => form(visit),
    async submit(reply, visit, fields) {
      if (!visit.signedIn) return signIn.detour(path);
      try {
        const passwords = { current: fields.get('current') ?? '', next: newPassword(fields) };
        visits.signIn(
          reply,
          await accounts.changePassword(visit.signedIn.accountId, passwords, visit.origin),
        );
        return goTo(`${base}/account`, 'password-changed');
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        return form(visit, error);
      }
    },
  };

  function form({ signedIn, formProof }: Visit, error?: ServiceError): Answer {
    if (!signedIn) return signIn.detour(path);
    const isCurrentWrong = error?.code !== 'invalid_request';
    return {
      title: 'Change your password',
      error,
      body: html`<p>
          For the account <strong>${signedIn.email}</strong>. All other sessions end. Programs, devices and
          API keys stay.
        </p>
        ${alertOf(error)}
        <form method="post" action="${path}">
          ${formProof} ${usernameField(signedIn.email)}
          ${textField({
            name: 'current',
            label: 'Present password',
            type: 'password',
            autocomplete: 'current-password',
            isFirst: isCurrentWrong,
            error: isCurrentWrong ? error : undefined,
          })}
          ${newPasswordFields(config.password.minLength, {
            isFirst: !isCurrentWrong,
            error: isCurrentWrong ? undefined : error,
          })}
          <button>Change the password</button>
        </form>
        <p class="dim"><a href="${base}/account">Back to your account</a></p>`,
    };
  }
}

import { ServiceError, type Dialect } from '@sallyport/core';
import type { AuthorizationServer, DeviceRequest } from '@sallyport/oauth/server';
import type { Answer, Page } from './answer.ts';
import { decisionButtons, organizationField, scopeItems } from './approval.ts';
import { alertOf, textField } from './form.ts';
import { html } from './html.ts';
import { moment } from './moment.ts';
import type { SignInPages } from './sign-in.ts';
import type { Fields, Visit, Visits } from './visit.ts';

/** `/device`: a person types a user code, sees who asks for what, and decides (RFC 8628 3.3). */
export interface DevicePage {
  show(visit: Visit): Promise<Answer>;
  submit(visit: Visit, fields: Fields): Promise<Answer>;
}

export function createDevicePage(
  { deviceFlow, organizations }: AuthorizationServer,
  options: { readonly visits: Visits; readonly signIn: SignInPages; readonly dialect: Dialect },
): DevicePage {
  const { visits, signIn, dialect } = options;
  const { base } = visits;

  return {
    async show(visit) {
      const { signedIn, query } = visit;
      const { address } = visit.origin;
      const typed = query.get('user_code') ?? '';
      if (!signedIn)
        return signIn.detour(`${base}/device${typed && `?user_code=${encodeURIComponent(typed)}`}`);
      if (typed === '') return codeForm();
      try {
        const request = await deviceFlow.find(typed, signedIn, address);
        return request.state === 'pending'
          ? await confirmation(visit, signedIn.accountId, request)
          : decidedPage(request);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
        return codeForm(typed.slice(0, 20), error);
      }
    },

    async submit({ signedIn, origin: { address } }, fields) {
      if (!signedIn) return signIn.detour(`${base}/device`);
      const decision = fields.get('decision');
      if (decision !== 'approve' && decision !== 'deny')
        throw new ServiceError('invalid_request', 'The form says neither approve nor deny.');
      const approve = decision === 'approve';
      const organizationId = fields.get('organization') ?? '';
      const typed = fields.get('user_code') ?? '';
      try {
        return decidedPage(await deviceFlow.decide(typed, signedIn, address, { approve, organizationId }));
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
        return { ...decidedPage(await deviceFlow.find(typed, signedIn, address)), status: 409 };
      }
    },
  };

  function decidedPage({ client, state, userCode }: DeviceRequest): Page {
    const [title, outcome] =
      state === 'denied'
        ? ['Denied', html`was refused: start again there if that was a mistake.`]
        : ['Approved', html`is logged in.`];
    return {
      title,
      body: html`<p>
          <strong>${client.name}</strong> with the code <code>${userCode}</code> ${outcome} You can close this
          page.
        </p>
        <p>
          <a href="${base}/device">Enter another code</a> &middot; <a href="${base}/account">Your account</a>
        </p>`,
    };
  }

  function codeForm(typed = '', error?: ServiceError): Page {
    return {
      title: 'Log a device in',
      error,
      body: html`${alertOf(error, 'Check it, or start again on the device for a new one.')}
        <form method="get" action="${base}/device">
          ${textField({
            name: 'user_code',
            label: 'Code that the device shows',
            type: 'text',
            autocomplete: 'off',
            hint: 'Eight letters, such as BCDF-GHJK.',
            value: typed,
            isFirst: true,
            attributes: html`class="code" maxlength="20" autocapitalize="characters" spellcheck="false"`,
            error,
          })}
          <button>Continue</button>
        </form>`,
    };
  }

  async function confirmation(
    { formProof }: Visit,
    accountId: string,
    request: DeviceRequest,
  ): Promise<Answer> {
    const { client, userCode, scope, address, createdAt } = request;
    return {
      title: `Log ${client.name} in?`,
      body: html`<p>Approve only if you started this yourself, and your device shows this code.</p>
        <dl>
          <dt>Code</dt>
          <dd><code>${userCode}</code></dd>
          <dt>Asked from</dt>
          <dd>${address}, ${moment(createdAt)}</dd>
          <dt>It may</dt>
          <dd>${scopeItems(scope, dialect)}</dd>
        </dl>
        <form method="post" action="${base}/device">
          ${formProof}
          <input type="hidden" name="user_code" value="${userCode}" />
          ${organizationField(await organizations.of(accountId))} ${decisionButtons}
        </form>`,
    };
  }
}

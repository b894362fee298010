import { ServiceError, type Dialect } from '@sallyport/core';
import type { AuthorizationServer, DeviceRequest } from '@sallyport/oauth/server';
import type { Answer, Page } from './answer.ts';
import { decisionButtons, organizationField, scopeItems } from './approval.ts';
import { html, type Html } from './html.ts';
import { alertOf, type SignInPages } from './sign-in.ts';
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
      const { signedIn, query, address } = visit;
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
        return {
          ...codeForm(html`${error.message} Check it, or start again on the device for a new one.`),
          status: 404,
        };
      }
    },

    async submit({ signedIn, address }, fields) {
      if (!signedIn) return signIn.detour(`${base}/device`);
      const decision = fields.get('decision');
      if (decision !== 'approve' && decision !== 'deny')
        throw new ServiceError('invalid_request', 'The form says neither approve nor deny.');
      const approve = decision === 'approve';
      const organizationId = fields.get('organization') ?? '';
      const typed = fields.get('user_code') ?? '';
      try {
        await deviceFlow.decide(typed, signedIn, address, { approve, organizationId });
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
        return { ...decidedPage(await deviceFlow.find(typed, signedIn, address)), status: 409 };
      }
      return decidedPage(await deviceFlow.find(typed, signedIn, address));
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
        <p><a href="${base}/device">Enter another code</a></p>`,
    };
  }

  function codeForm(problem?: Html): Page {
    return {
      title: 'Log a device in',
      body: html`${alertOf(problem)}
        <form method="get" action="${base}/device">
          <label for="user_code">Code that the device shows</label>
          <input
            class="code"
            id="user_code"
            name="user_code"
            type="text"
            maxlength="20"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
            placeholder="XXXX-XXXX"
            required
            autofocus
          />
          <button>Continue</button>
        </form>`,
    };
  }

  async function confirmation(
    { formProof }: Visit,
    accountId: string,
    request: DeviceRequest,
  ): Promise<Answer> {
    const { client, userCode, scope, address } = request;
    return {
      title: `Log ${client.name} in?`,
      body: html`<p>Approve only if you started this yourself, and your device shows this code.</p>
        <dl>
          <dt>Code</dt>
          <dd><code>${userCode}</code></dd>
          <dt>Asked from</dt>
          <dd>${address}</dd>
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

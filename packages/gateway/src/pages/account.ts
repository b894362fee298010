import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer, SignedIn } from '@sallyport/oauth/server';
import type { Answer } from './answer.ts';
import { holdingsOf, holdingsSection, sessionList } from './holdings.ts';
import { html, type Html } from './html.ts';
import { goTo, noticeOf, type Notice } from './notice.ts';
import type { SignInPages } from './sign-in.ts';
import type { Fields, Visit, Visits } from './visit.ts';

/** `/account`: all that stands for a person, each with a button that ends it. */
export interface AccountPage {
  show(visit: Visit): Promise<Answer>;
  submit(visit: Visit, fields: Fields): Promise<Answer>;
}

/** Organizations on one page. */
const pageSize = 10;

export function createAccountPage(
  server: AuthorizationServer,
  { visits, signIn }: { readonly visits: Visits; readonly signIn: SignInPages },
): AccountPage {
  const { base } = visits;
  const path = `${base}/account`;

  return {
    async show({ signedIn, query, formProof }) {
      if (!signedIn) return signIn.detour(path);
      const { accountId, sessionId, email } = signedIn;
      const memberships = await server.organizations.of(accountId);
      const page = Math.max(1, Math.trunc(Number(query.get('page'))) || 1);
      const shown = memberships.slice((page - 1) * pageSize, page * pageSize);
      const holdings = await Promise.all(
        shown.map((membership) => holdingsOf(server, accountId, membership)),
      );
      return {
        title: 'Your account',
        isWide: true,
        body: html`${noticeOf(query)}
          <div class="bar">
            <p>Signed in as <strong>${email}</strong></p>
            <form method="post" action="${base}/logout">
              ${formProof}<button class="small">Sign out</button>
            </form>
          </div>
          <p>
            <a href="${base}/device">Enter a device code</a> &middot;
            <a href="${path}/password">Change the password</a>
          </p>
          <form method="post" action="${path}">
            ${formProof} ${sessionList(await server.sessions.list(accountId), sessionId)}
            ${holdings.map(holdingsSection)} ${none(memberships.length)}
          </form>
          ${pages(page, memberships.length)}`,
      };
    },

    async submit({ signedIn }, fields) {
      if (!signedIn) return signIn.detour(path);
      return goTo(path, await end(signedIn, fields));
    },
  };

  /** What is gone already counts as ended: the page may have been open in two windows. */
  async function end(signedIn: SignedIn, fields: Fields): Promise<Notice> {
    const { accountId } = signedIn;
    const [[name, value] = ['', '']] = [...fields].filter(([one]) => one !== 'proof');
    const [organizationId = '', id = ''] = value.split('/');
    const owner = { accountId, organizationId };
    switch (name) {
      case 'session':
        await server.sessions.end({ accountId, sessionId: value });
        return 'session-ended';
      case 'others':
        await server.sessions.endOthers(signedIn);
        return 'others-ended';
      case 'login':
        await server.logins.revoke(id, owner).catch(goneAlready);
        return 'login-revoked';
      case 'device':
        await server.trustedDevices.revoke(id, owner).catch(goneAlready);
        return 'device-revoked';
      case 'key':
        await server.apiKeys.revoke(id, owner).catch(goneAlready);
        return 'key-revoked';
      default:
        throw new ServiceError('invalid_request', 'The form does not say what is to end.');
    }
  }

  function pages(page: number, count: number): Html | undefined {
    const last = Math.ceil(count / pageSize);
    if (last <= 1) return undefined;
    const links = Array.from({ length: last }, (_, index) => index + 1).map((number) =>
      number === page
        ? html`<span aria-current="page">${number}</span> `
        : html`<a href="${path}?page=${number}">${number}</a> `,
    );
    return html`<nav aria-label="Organizations">Organizations, page ${links}</nav>`;
  }
}

function none(memberships: number): Html | undefined {
  if (memberships > 0) return undefined;
  return html`<p class="dim">Your account is in no organization: an admin must add it to one.</p>`;
}

function goneAlready(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
}

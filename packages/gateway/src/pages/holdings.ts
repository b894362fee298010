import type {
  ApiKey,
  AuthorizationServer,
  Login,
  Membership,
  Session,
  TrustedDevice,
} from '@sallyport/oauth/server';
import { browserName } from './browser-name.ts';
import { html, type Html } from './html.ts';
import { moment, momentText } from './moment.ts';

/** What an account has in one organization. */
export interface Holdings extends Membership {
  readonly logins: readonly Login[];
  readonly devices: readonly TrustedDevice[];
  readonly keys: readonly ApiKey[];
}

/** What a button of the lists ends: the name of its form field; the value is the id, after the organization's and a slash. */
export type Ending = 'session' | 'others' | 'login' | 'device' | 'key';

interface Item {
  readonly name: string;
  readonly mark?: string;
  readonly facts: Html;
  /** A word that tells two of one name apart. */
  readonly since: number;
  readonly button?: { readonly ending: Ending; readonly value: string; readonly verb: string };
}

/** Rows of a list that a page shows. */
const shownItems = 100;

export async function holdingsOf(
  { logins, trustedDevices, apiKeys }: AuthorizationServer,
  accountId: string,
  membership: Membership,
): Promise<Holdings> {
  const owner = { accountId, organizationId: membership.organization.id };
  const [ownLogins, devices, keys] = await Promise.all([
    logins.list(owner),
    trustedDevices.list(owner),
    apiKeys.list(owner),
  ]);
  return { ...membership, logins: ownLogins, devices, keys };
}

export function sessionList(sessions: readonly Session[], ownId: string): Html {
  const items = sessions.map((session): Item => {
    const { id, address, userAgent, createdAt, lastUsedAt } = session;
    const name =
      browserName(userAgent) ?? (address === null ? 'Session key of an administrator' : 'A program');
    return {
      name,
      since: createdAt,
      facts: html`Signed in ${moment(createdAt)}${from(address)}. Last used
      ${moment(lastUsedAt ?? createdAt)}.`,
      ...(id === ownId
        ? { mark: 'This one' }
        : { button: { ending: 'session', value: id, verb: 'Sign out' } as const }),
    };
  });
  // Its own first: it is the one to recognise the others by.
  const ordered = [...items.filter(({ mark }) => mark), ...items.filter(({ mark }) => !mark)];
  const others = html`<button class="small" name="others" value="all">Sign out everywhere else</button>`;
  return html`<section aria-labelledby="sessions">
    <h2 id="sessions">Browsers</h2>
    ${list(ordered)} ${items.length > 1 ? others : undefined}
  </section>`;
}

export function holdingsSection({ organization, role, ...holdings }: Holdings): Html {
  const { id, name } = organization;
  const part = (title: string, items: readonly Item[], empty: Html) => {
    const titleId = `${title.toLowerCase().replaceAll(' ', '-')}-${id}`;
    return html`<section aria-labelledby="${titleId}">
      <h3 id="${titleId}">${title}</h3>
      ${items.length === 0 ? html`<p class="dim">${empty}</p>` : list(items)}
    </section>`;
  };
  return html`<section aria-labelledby="organization-${id}">
    <h2 id="organization-${id}">${name}</h2>
    <p class="dim">An organization in which you are ${role}.</p>
    ${part(
      'Programs',
      holdings.logins.map((login) => loginItem(login, id)),
      html`None is logged in. On a machine, <code>sallyport login</code> logs it in, and
        <code>sallyport bridge run</code> takes work there.`,
    )}
    ${part(
      'Trusted devices',
      holdings.devices.map((device) => deviceItem(device, id)),
      html`None. <code>sallyport bridge run</code> makes the machine that it runs on one.`,
    )}
    ${part(
      'API keys',
      holdings.keys.map((key) => keyItem(key, id)),
      html`None. They are for scripts, which cannot log in.`,
    )}
  </section>`;
}

function loginItem(
  { id, client, address, createdAt, refreshedAt, expiresAt }: Login,
  organizationId: string,
): Item {
  const used = refreshedAt === null ? undefined : html` Last renewed ${moment(refreshedAt)}.`;
  return {
    name: client.name,
    since: createdAt,
    facts: html`Logged in ${moment(createdAt)}${from(address)}.${used} Unused, it ends ${moment(expiresAt)}.`,
    button: { ending: 'login', value: `${organizationId}/${id}`, verb: 'Log out' },
  };
}

function deviceItem({ id, displayName, createdAt, lastUsedAt }: TrustedDevice, organizationId: string): Item {
  return {
    name: displayName,
    since: createdAt,
    facts: html`Trusted since ${moment(createdAt)}. ${lastUse(lastUsedAt)}`,
    button: { ending: 'device', value: `${organizationId}/${id}`, verb: 'Revoke' },
  };
}

function keyItem({ id, name, createdAt, lastUsedAt, expiresAt }: ApiKey, organizationId: string): Item {
  const end = expiresAt === null ? html`It does not expire.` : html`It expires ${moment(expiresAt)}.`;
  return {
    name: name ?? 'Key without a name',
    since: createdAt,
    facts: html`Made ${moment(createdAt)}. ${lastUse(lastUsedAt)} ${end}`,
    button: { ending: 'key', value: `${organizationId}/${id}`, verb: 'Revoke' },
  };
}

function from(address: string | null): string {
  return address === null ? '' : ` from ${address}`;
}

function lastUse(at: number | null): Html {
  return at === null ? html`Never used.` : html`Last used ${moment(at)}.`;
}

function list(items: readonly Item[]): Html {
  const rows = items.slice(0, shownItems).map(
    ({ name, mark, facts, since, button }) =>
      html`<li>
        <div>
          <strong>${name}</strong>
          ${mark === undefined ? undefined : html`<span class="badge">${mark}</span>`}
          <p class="dim">${facts}</p>
        </div>
        ${
          button &&
          html`<button
            class="small"
            name="${button.ending}"
            value="${button.value}"
            aria-label="${button.verb}: ${name}, since ${momentText(since)}"
          >
            ${button.verb}
          </button>`
        }
      </li>`,
  );
  const rest = html`<p class="dim">Only the newest ${shownItems} are shown.</p>`;
  // The role: a list without bullets is none to some screen readers.
  return html`<ul class="items" role="list">
      ${rows}
    </ul>
    ${items.length > shownItems ? rest : undefined}`;
}

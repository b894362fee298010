import { inDialect, type Dialect } from '@sallyport/core';
import { scopeMeanings } from '@sallyport/core/scopes';
import { scopeList, type Membership } from '@sallyport/oauth/server';
import { html, type Html } from './html.ts';

const meanings: Readonly<Record<string, string>> = scopeMeanings;

/** What a client asks for, in words. */
export function scopeItems(scope: string, dialect: Dialect): Html {
  const items = scopeList(scope).map(
    (name) => html`<li>${capitalized(meanings[name]) ?? inDialect(name, dialect)}</li>`,
  );
  return html`<ul>
    ${items}
  </ul>`;
}

function capitalized(text: string | undefined): string | undefined {
  return text && text.charAt(0).toUpperCase() + text.slice(1);
}

/** A choice where there is one, else a hidden field. `wanted`: the only one that was asked for. */
export function organizationField(memberships: readonly Membership[], wanted?: string): Html {
  const offered =
    wanted === undefined ? memberships : memberships.filter(({ organization }) => organization.id === wanted);
  const [first, ...more] = offered;
  if (!first) {
    const problem =
      memberships.length === 0
        ? 'Your account is in no organization: an admin must add it to one.'
        : 'Your account is not in the organization that the program asks for: an admin must add it there.';
    return html`<p class="alert" role="alert">${problem}</p>`;
  }
  if (more.length === 0)
    return html`<p class="dim">For the organization <strong>${first.organization.name}</strong>.</p>
      <input type="hidden" name="organization" value="${first.organization.id}" />`;
  const options = offered.map(
    ({ organization }) => html`<option value="${organization.id}">${organization.name}</option>`,
  );
  return html`<label for="organization">Organization</label>
    <select id="organization" name="organization">
      ${options}
    </select>`;
}

/** Approve comes first in reading order; neither is the focus, so that no stray Enter decides. */
export const decisionButtons = html`<button name="decision" value="approve">Approve</button>
  <button class="quiet" name="decision" value="deny">Deny</button>`;

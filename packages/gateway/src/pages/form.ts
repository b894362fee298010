import { ServiceError } from '@sallyport/core';
import { html, type Html } from './html.ts';
import { waitText } from './moment.ts';
import type { Fields } from './visit.ts';

/** What went wrong with a form, above it, and what to do, or when; `problemId` links a field to it. */
export function alertOf(error: ServiceError | undefined, advice?: string): Html | undefined {
  if (error === undefined) return undefined;
  const { message, retryAfterMs } = error;
  const next = retryAfterMs === undefined ? advice : `Try again in ${waitText(retryAfterMs)}.`;
  return html`<p class="alert" role="alert" id="${problemId}">${message} ${next}</p>`;
}

const problemId = 'problem';

export interface TextField {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  readonly autocomplete: 'username' | 'current-password' | 'new-password' | 'off';
  /** A rule to keep to, below the label. */
  readonly hint?: string;
  readonly value?: string;
  /** Further attributes. */
  readonly attributes?: Html;
  /** Whether it is the first to be typed into. */
  readonly isFirst?: boolean;
  /** Why the form came back: read out with the field, which is marked where typing otherwise would help. */
  readonly error?: ServiceError | undefined;
}

/** A field that has to be filled in, with its label. */
export function textField(field: TextField): Html {
  const { name, label, type, autocomplete, hint, value, attributes, isFirst, error } = field;
  const hintId = `${name}-hint`;
  const descriptions = [...(error ? [problemId] : []), ...(hint === undefined ? [] : [hintId])];
  const isInvalid = error !== undefined && error.code !== 'rate_limited';
  return html`<label for="${name}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${hintId}">${hint}</p>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      required
      ${value === undefined ? undefined : html`value="${value}"`}
      ${descriptions.length === 0 ? undefined : html`aria-describedby="${descriptions.join(' ')}"`}
      ${isInvalid ? html`aria-invalid="true"` : undefined}
      ${isFirst === true ? html`autofocus` : undefined}
      ${attributes}
    />`;
}

/** For password managers, which would otherwise not know whose the new password is. */
export function usernameField(email: string): Html {
  return html`<input type="text" name="email" value="${email}" autocomplete="username" readonly hidden />`;
}

/** A new password, twice. */
export function newPasswordFields(
  minLength: number,
  { isFirst, error }: { readonly isFirst: boolean; readonly error?: ServiceError | undefined },
): Html {
  const attributes = html`minlength="${minLength}"`;
  const shared = { type: 'password', autocomplete: 'new-password', attributes, error } as const;
  const hint = `At least ${minLength} characters.`;
  return html`${textField({ ...shared, name: 'password', label: 'New password', hint, isFirst })}
  ${textField({ ...shared, name: 'repeated', label: 'New password again' })}`;
}

/** Throws `invalid_request` for two that differ. */
export function newPassword(fields: Fields): string {
  const password = fields.get('password') ?? '';
  if (password !== fields.get('repeated'))
    throw new ServiceError('invalid_request', 'The two passwords are not the same.');
  return password;
}

import type { Settings } from '../../config/settings.ts';
import { isApiKey } from '../../io/service-advice.ts';

/** What to do about a refusal that is no matter of the command. */
export const forAdmins: Readonly<Record<string, string>> = {
  forbidden: 'An admin of the organization may: see what you may do with sallyport access.',
};

/** ... about a change that takes an organization its last admin, the only conflict of such a call. */
export const anotherAdmin =
  'Make another member an admin first: sallyport admin people role EMAIL admin (sallyport admin people list shows them)';

/** The same for what no API key may, be it an admin's. */
export function forLogins({ token }: Pick<Settings, 'token'>): Readonly<Record<string, string>> {
  if (token === undefined || !isApiKey(token)) return forAdmins;
  return {
    forbidden: 'Unset SALLYPORT_TOKEN to do it with the stored login; where there is none: sallyport login',
  };
}

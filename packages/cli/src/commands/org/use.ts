import { logInToAccount } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { loginCommand } from '../../known-logins.ts';
import { organizationNamed, organizationsOf, shownById, shownOrganization } from '../../organizations.ts';
import { configSet } from '../config/change.ts';

/** A login is for one organization: where it is for another one nothing changes, or the next command would act for neither. */
export async function orgUse(context: Context, _options: object, given: string): Promise<Output> {
  const { settings, interrupt } = context;
  const { client, ownOrganizationId: own } = await logInToAccount(context);
  const all = await organizationsOf(client, { signal: interrupt.asked });
  const wanted = organizationNamed(all, given);
  if (own === undefined || wanted.uuid === own) return configSet(context, {}, 'organization', wanted.uuid);
  throw new CommandError(
    'login_required',
    `A login is for one organization, and this one is for ${shownById(all, own)}; nothing was changed.`,
    exitCodes.notLoggedIn,
    `Log in for ${shownOrganization(wanted)}, which is in use then: ${loginCommand(settings)} --org ${wanted.uuid}\nOr keep both logins, the new one in a profile: sallyport profile add NAME --organization ${wanted.uuid} --base-url ${settings.baseUrl}, and sallyport login --profile NAME`,
  );
}

import { contract } from '@sallyport/core/contract';
import type { Role } from '@sallyport/core/organization';
import { connectUnreported, logIn, type LoggedIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { advising } from '../../io/next-step.ts';
import { printable, printableLines } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';
import { deleteEach } from '../delete-each.ts';
import { knownEnvironments } from '../known-environments.ts';
import { largestPage } from '../take.ts';
import { bridgesOf } from './bridges-of.ts';
import type { EndOptions } from './ends.ts';
import { anotherAdmin, forAdmins, forLogins } from './for-admins.ts';
import { bodies } from './listing.ts';

/** `admin people add EMAIL`: who has no account yet gets one, and a link to set its password. */
export async function add(context: Context, { role }: { readonly role: Role }, email = ''): Promise<Output> {
  const { client } = await logIn(context);
  const adding = client.admin.addPerson({ body: { email, role }, signal: context.interrupt.asked });
  const person = await advising(adding, {
    ...forLogins(context.settings),
    conflict: `See who is a member: sallyport admin people list\nGive another role: sallyport admin people role ${email} ${role}\nWhere they have no password yet, a new link is made by removing them and adding them again: sallyport admin people remove ${email}`,
  });
  const { setup_link: link, setup_link_expires_at: expiry } = person;
  const until = expiry === undefined ? '' : `, until ${expiry}`;
  const password =
    link !== undefined
      ? `Give them this link, with which they set their password, once${until}:\n${link}`
      : person.has_password
        ? 'They sign in with the password that their account has.'
        : `The account has no password yet. Whoever runs the gateway makes a link to set it: sallyport-gateway admin user password ${person.email}`;
  return {
    json: person,
    human: printableLines(`${person.email} is a member with the role ${person.role}.\n${password}`),
  };
}

/** `admin people role EMAIL ROLE`. */
export async function role(context: Context, _options: object, who = '', wanted = ''): Promise<Output> {
  const loggedIn = await logIn(context);
  const { id } = await personCalled(context, loggedIn, who);
  const changing = loggedIn.client.admin.changeRole({
    params: { account_id: id },
    body: { role: wanted as Role },
    signal: context.interrupt.asked,
  });
  const advice = { ...forLogins(context.settings), conflict: anotherAdmin };
  const person = await advising(changing, advice);
  return { json: person, human: printable(`${person.email} has the role ${person.role}.`) };
}

/** `admin people unlock WHO`. */
export async function unlock(context: Context, _options: object, who = ''): Promise<Output> {
  const loggedIn = await logIn(context);
  const { id } = await personCalled(context, loggedIn, who);
  const unlocking = loggedIn.client.admin.unlockPerson({
    params: { account_id: id },
    signal: context.interrupt.asked,
  });
  const unlocked = await advising(unlocking, forAdmins);
  const says = unlocked.was_locked
    ? 'is no longer locked out.'
    : 'was not locked out.\nIf they are refused all the same, too many wrong passwords came from their network: that ends by itself.';
  return { json: unlocked, human: printableLines(`${unlocked.email} ${says}`) };
}

/** `admin people remove EMAIL...`: their accounts stay. */
export async function remove(
  context: Context,
  { yes = false }: EndOptions,
  ...given: string[]
): Promise<number> {
  const loggedIn = await connectUnreported(context);
  const who = [...new Set(given)];
  if (!yes)
    await confirm(context, async () => {
      const environments = await knownEnvironments(loggedIn, context.interrupt.asked);
      const along = bridgesOf(who, environments);
      return `${along}Remove ${who.join(', ')} from the organization? Their logins, keys and devices for it end at once.`;
    });
  return deleteEach(
    context,
    who,
    'The membership of',
    async (each) => {
      const { id } = await personCalled(context, loggedIn, each);
      const removing = loggedIn.client.admin.removePerson({
        params: { account_id: id },
        signal: context.interrupt.asked,
      });
      return advising(removing, { ...forAdmins, conflict: anotherAdmin });
    },
    'ended',
  );
}

/** By the e-mail address or the id of the account. */
export async function personCalled(
  context: Context,
  { clientOptions }: Pick<LoggedIn, 'clientOptions'>,
  who: string,
) {
  const finding = (async () => {
    for await (const people of bodies(context, clientOptions, contract.admin.listPeople, largestPage))
      for (const person of people)
        if (person.id === who.toLowerCase() || person.email.toLowerCase() === who.toLowerCase())
          return person;
    return undefined;
  })();
  const found = await advising(finding, forAdmins);
  if (found) return found;
  throw new CommandError(
    'not_found',
    `${who} is no member of the organization.`,
    exitCodes.notFound,
    'See who is: sallyport admin people list',
  );
}

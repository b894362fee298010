import { roles } from '@sallyport/core/organization';
import { scopeLines, scopes } from '@sallyport/core/scopes';
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect, moment } from '../option-values.ts';
import { takeOptions } from '../take.ts';

/** What an admin of an organization does, over the API and with their own login. */
export function addAdminCommands(program: Command, act: Act): void {
  const admin = program
    .command('admin')
    .description('Administration of the organization, for its admins')
    .addHelpText(
      'after',
      '\nWhoever runs the gateway has more on its machine: sallyport-gateway admin --help',
    );
  addPeople(admin, act);
  addHoldings(admin, act);
  addSettings(admin, act);
  examples(
    takeOptions(admin.command('audit').description('Show who did what, when and from where, newest first'))
      .option('--since <when>', 'from then on: a span such as 12h, 30d, or a time', moment)
      .option('--actor <who>', 'by an e-mail address, or the id of an actor')
      .option('--action <action>', 'such as sign_in or api_key.revoke')
      .action(act(async () => (await import('./audit.ts')).audit)),
    'sallyport admin audit --since 7d --actor ann@example.com',
    'sallyport admin audit --action sign_in --all --json',
  );
}

function addPeople(admin: Command, act: Act): void {
  const people = admin.command('people').description("The organization's members");
  const load = () => import('./people.ts');
  const who = 'the e-mail address, or the id of the account';
  examples(
    takeOptions(people.command('list').description('List the members with their roles'), 100).action(
      act(async () => (await import('./lists.ts')).people),
    ),
    'sallyport admin people list',
  );
  examples(
    people
      .command('add')
      .description('Make somebody a member; who has no account gets one, and a link to set its password')
      .argument('<email>', 'the e-mail address')
      .addOption(new Option('--role <role>', 'what they may do').choices(roles).default('member'))
      .action(act(async () => (await load()).add)),
    'sallyport admin people add ann@example.com',
    'sallyport admin people add bob@example.com --role viewer',
  );
  examples(
    people
      .command('role')
      .description('Give a member another role')
      .argument('<who>', who)
      .addArgument(new Argument('<role>', 'what they may do').choices(roles))
      .action(act(async () => (await load()).role)),
    'sallyport admin people role ann@example.com admin',
  );
  examples(
    people
      .command('unlock')
      .description('Let a member sign in again, whom too many wrong passwords have shut out')
      .argument('<who>', who)
      .action(act(async () => (await load()).unlock)),
    'sallyport admin people unlock ann@example.com',
  );
  examples(
    people
      .command('remove')
      .description('End memberships, with all logins, keys and devices for the organization; accounts stay')
      .argument('<who...>', who)
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await load()).remove)),
    'sallyport admin people remove bob@example.com',
  );
}

/** What members, and programs, may call with. */
function addHoldings(admin: Command, act: Act): void {
  const holdings = [
    { noun: 'keys', name: 'keys', verb: 'revoke', what: "members' API keys" },
    { noun: 'devices', name: 'devices', verb: 'revoke', what: "members' trusted devices" },
    { noun: 'logins', name: 'logins', verb: 'revoke', what: 'the logins of programs' },
    { noun: 'sign-ins', name: 'signIns', verb: 'end', what: 'what members are signed in with' },
    { noun: 'clients', name: 'clients', verb: 'remove', what: 'the OAuth clients of the installation' },
  ] as const;
  for (const { noun, name, verb, what } of holdings) {
    const group = admin.command(noun).description(capitalized(what));
    examples(
      takeOptions(group.command('list').description(`List ${what}`), 100).action(
        act(async () => (await import('./lists.ts'))[name]),
      ),
      `sallyport admin ${noun} list`,
    );
    examples(
      group
        .command(verb)
        .description(`${capitalized(verb)} some of ${what}`)
        .argument('<id...>', 'by the ids of the list')
        .option('-y, --yes', 'do not ask')
        .action(act(async () => (await import('./ends.ts'))[name])),
      `sallyport admin ${noun} ${verb} 095f41c0-325e-49d2-bb29-5638aec500fc`,
    );
    if (noun === 'clients') addClientAdd(group, act);
  }
}

function addClientAdd(clients: Command, act: Act): void {
  examples(
    clients
      .command('add')
      .description("Register a public OAuth client; for admins of the installation's first organization")
      .requiredOption('--name <name>', 'shown to people who consent')
      .requiredOption('--redirect-uri <uri>', 'where codes may be sent; may be repeated', collect, [])
      .option('--scope <scope>', 'the most that it may ask for; may be repeated; default: all', collect, [])
      .addHelpText('after', `\nScopes:\n${scopeLines(scopes)}`)
      .action(act(async () => (await import('./client-add.ts')).clientAdd)),
    'sallyport admin clients add --name tool --redirect-uri http://127.0.0.1/callback',
  );
}

function addSettings(admin: Command, act: Act): void {
  const settings = admin
    .command('settings')
    .description("What the organization sets for its members' programs");
  const load = () => import('./settings.ts');
  examples(
    settings
      .command('list')
      .description('List them')
      .action(act(async () => (await load()).list)),
    'sallyport admin settings list',
  );
  examples(
    settings
      .command('set')
      .description('Set one')
      .argument('<name>', 'the setting')
      .argument('<json>', 'its value, as JSON', json)
      .addHelpText('after', `\n${settingsHelp}`)
      .action(act(async () => (await load()).set)),
    'sallyport admin settings set autoUpdates false',
    `sallyport admin settings set model '"large"'`,
  );
  examples(
    settings
      .command('unset')
      .description('Remove one')
      .argument('<name>', 'the setting')
      .action(act(async () => (await load()).unset)),
    'sallyport admin settings unset model',
  );
}

/** There is no list of them here. */
const settingsHelp = `Which settings there are is up to the programs that read them (GET /api/agent_code/settings): see there
how they are called. A name has up to 128 characters, a value up to 64 KiB.`;

function json(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new InvalidArgumentError('JSON is needed: true, 5, or text in its quotes, as in \'"text"\'');
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

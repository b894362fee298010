import type { Command } from 'commander';
import { asJson, configurable, type ConfigFlags } from './flags.ts';
import type { HoldingCommands, ListFlags } from './holding.ts';
import type { PrintFlags } from './print.ts';

interface Noun {
  readonly name: 'keys' | 'devices' | 'logins' | 'signIns' | 'clients';
  readonly verb: string;
  readonly ends: string;
}

const nouns: Readonly<Record<string, Noun & { readonly what: string }>> = {
  key: {
    name: 'keys',
    what: 'API keys',
    verb: 'revoke',
    ends: 'Revokes API keys: whatever uses them is refused at once.',
  },
  device: {
    name: 'devices',
    what: 'Trusted devices',
    verb: 'revoke',
    ends: 'Revokes trusted devices: no bridge registers with their tokens any more; one that runs goes on.',
  },
  login: {
    name: 'logins',
    what: 'Logins of programs',
    verb: 'revoke',
    ends: 'Revokes logins: the programs are refused at once, and their people have to log in again.',
  },
  'sign-in': {
    name: 'signIns',
    what: 'What people are signed in with',
    verb: 'end',
    ends: 'Ends sign-ins: their people have to sign in again in those browsers.',
  },
};

/** `admin key|device|login list|revoke` and `admin sign-in list|end`: what accounts may call with. */
export function addHoldingCommands(admin: Command): void {
  for (const [noun, { what, ...commands }] of Object.entries(nouns)) {
    const group = admin.command(noun).description(`${what}.`);
    configurable(group.command('list'))
      .description('Prints those that stand, with whose they are; no secret is in it.')
      .option('--org <org>', "those of an organization's members alone")
      .option('--user <email>', "an account's alone")
      .option(...asJson)
      .action(async (flags: ListFlags & PrintFlags) => (await load(commands)).list(flags));
    addEnd(group, commands);
  }
}

/** `admin client list|remove`. */
export function addClientCommands(client: Command): void {
  const commands: Noun = {
    name: 'clients',
    verb: 'remove',
    ends: 'Removes OAuth clients, and ends all logins with them, in every organization.',
  };
  configurable(client.command('list'))
    .description('Prints the OAuth clients, the oldest first.')
    .option(...asJson)
    .action(async (flags: ConfigFlags & PrintFlags) => (await load(commands)).list(flags));
  addEnd(client, commands);
}

function addEnd(group: Command, commands: Noun): void {
  configurable(group.command(commands.verb).argument('<id...>', 'by the ids of the list'))
    .description(`${commands.ends} Prints them.`)
    .option(...asJson)
    .action(async (ids: string[], flags: ConfigFlags & PrintFlags) => (await load(commands)).end(ids, flags));
}

async function load({ name }: Noun): Promise<HoldingCommands> {
  return (await import('./holdings.ts'))[name];
}

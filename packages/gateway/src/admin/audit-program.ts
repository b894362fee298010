import { aMoment, parseMoment, type Moment } from '@sallyport/core/duration';
import { InvalidArgumentError, type Command } from 'commander';
import type { AuditFlags } from './audit.ts';
import { asJson, configurable, limitedTo, type ConfigFlags } from './flags.ts';

/** `admin audit`. */
export function addAuditCommand(admin: Command): void {
  configurable(admin.command('audit'))
    .description('Prints who did what, when and from where, the newest first.')
    .option('--since <when>', 'from then on: a span such as 12h, 30d, or a time', toMoment)
    .option('--org <org>', "what an organization's admins see of it")
    .option('--actor <who>', 'an e-mail address, or the id of an actor')
    .option('--action <action>', 'such as sign_in or api_key.revoke')
    .option(...limitedTo(1_000_000))
    .option(...asJson)
    .action(async (flags: AuditFlags, command: Command) => {
      const { printAudit, unknownAction } = await import('./audit.ts');
      const problem = unknownAction(flags.action);
      if (problem !== undefined) command.error(`error: ${problem}`);
      await printAudit(flags);
    });
}

/** `admin user export|erase`. */
export function addAccountDataCommands(user: Command): void {
  const load = () => import('./account-data.ts');
  configurable(user.command('export <email>'))
    .description('Prints all that is kept of an account as one JSON document; secrets are not in it.')
    .action(async (email: string, flags: ConfigFlags) => (await load()).exportUser(email, flags));
  configurable(user.command('erase <email>'))
    .description('Erases an account with its environments, sessions, telemetry and feedback, for good.')
    .option('--yes', 'does not ask first')
    .action(async (email: string, flags: ConfigFlags & { yes?: boolean }, command: Command) => {
      if (flags.yes !== true && !process.stdin.isTTY)
        command.error('error: an erasure cannot be undone: confirm it with --yes');
      await (await load()).eraseUser(email, flags);
    });
}

function toMoment(text: string): Moment {
  const parsed = parseMoment(text);
  if (parsed === undefined) throw new InvalidArgumentError(`It must be ${aMoment}.`);
  return parsed;
}

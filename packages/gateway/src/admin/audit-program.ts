import { InvalidArgumentError, type Command } from 'commander';
import type { AuditFlags } from './audit.ts';
import { asJson, configurable, type ConfigFlags } from './flags.ts';

/** `admin audit`. */
export function addAuditCommand(admin: Command): void {
  configurable(admin.command('audit'))
    .description('Prints who did what, when and from where, the newest first.')
    .option('--since <when>', 'from then on: 2026-01-31, a full timestamp, or 12h, 30d', toMoment)
    .option('--actor <who>', 'an e-mail address, or the id of an actor')
    .option('--action <action>', 'such as sign_in or api_key.revoke')
    .option('--limit <count>', 'at most so many', toCount, 100)
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

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };

function toMoment(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const at = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (units[unit] ?? 0);
  if (!/^\d/.test(text) || Number.isNaN(at))
    throw new InvalidArgumentError('It must be a date, a timestamp, or a span such as 12h or 30d.');
  return at;
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1_000_000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000000.');
  return count;
}

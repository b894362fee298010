import { didYouMean, toTimestamp } from '@sallyport/core';
import { auditLine } from '@sallyport/core/audit-line';
import { pages } from '@sallyport/core/client';
import { auditActions, contract, type AuditAction } from '@sallyport/core/contract';
import type { Moment } from '@sallyport/core/duration';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { advising } from '../../io/next-step.ts';
import type { Output } from '../../io/terminal.ts';
import { take, type TakeOptions } from '../take.ts';
import { forAdmins } from './for-admins.ts';
import { personCalled } from './people.ts';

export interface AuditOptions extends TakeOptions {
  readonly since?: Moment;
  readonly actor?: string;
  readonly action?: string;
}

/** `admin audit`: the newest first. */
export async function audit(context: Context, options: AuditOptions): Promise<Output> {
  const { since, actor, action } = options;
  if (action !== undefined && !isAction(action))
    throw new CommandError(
      'usage',
      `--action names no action of the log: ${action}. ${didYouMean(action, auditActions) ?? ''}`.trimEnd(),
      exitCodes.usage,
      `They are: ${auditActions.join(', ')}`,
    );
  const { clientOptions } = await logIn(context);
  const query = {
    ...(since && { since: toTimestamp(since(context.clock.now())) }),
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
  };
  async function* entries(limit: number) {
    const call = { signal: context.interrupt.asked };
    const input = { query: { ...query, limit } };
    for await (const { body } of pages(clientOptions, contract.admin.listAudit, input, call)) yield body;
  }
  const taken = await advising(take(context, options, entries), forAdmins);
  // Said of an address that is nobody's here, and of who left: an empty list would look like a quiet member.
  if (taken.length === 0 && actor?.includes('@')) await personCalled(context, { clientOptions }, actor);
  return {
    json: taken,
    human: taken.length === 0 ? 'No entry matches.' : taken.map((entry) => auditLine(entry)).join('\n'),
  };
}

function isAction(text: string): text is AuditAction {
  return (auditActions as readonly string[]).includes(text);
}

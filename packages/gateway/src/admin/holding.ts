import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import { withAuthorizationServer } from './authorization.ts';
import { ExplainedError } from './failure.ts';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';
import { printList, printRecord, type Columns, type PrintFlags } from './print.ts';

/** One kind of what people, and programs, may call with. */
export interface Holding<Shown extends object> {
  /** `API key`: it is ... */
  readonly what: string;
  /** `revoked`. */
  readonly done: string;
  /** Of the command: `key`. */
  readonly noun: string;
  readonly columns: Columns<Shown>;
  readonly idOf: (shown: Shown) => string;
  /** `of ann@example.com in Team`. */
  readonly whose: (shown: Shown) => string;
  readonly read: (server: AuthorizationServer, flags: ListFlags) => Promise<readonly Shown[]>;
  readonly end: (server: AuthorizationServer, shown: Shown) => Promise<unknown>;
}

export interface ListFlags extends ConfigFlags {
  readonly org?: string;
  readonly user?: string;
}

/** The commands on one kind of it. */
export interface HoldingCommands {
  list(flags: ListFlags & PrintFlags): Promise<void>;
  /** One that is not there, or may not end, does not keep the others; the exit code tells. */
  end(ids: readonly string[], flags: ConfigFlags & PrintFlags): Promise<void>;
}

export function commandsOn<Shown extends object>(holding: Holding<Shown>): HoldingCommands {
  const { what, done, noun, columns, idOf, whose, read, end } = holding;
  return {
    async list(flags) {
      printList(await withAuthorizationServer(flags, (server) => read(server, flags)), columns, flags);
    },

    async end(ids, flags) {
      const ended: Shown[] = [];
      const refusals: string[] = [];
      const records = () => ended.map((shown) => ({ ...shown, deleted: true as const }));
      const says = () => ended.map((shown) => `The ${what} ${idOf(shown)}${whose(shown)} is ${done}.`);
      await withAuthorizationServer(flags, async (server) => {
        const held = new Map((await read(server, flags)).map((shown) => [idOf(shown), shown]));
        for (const id of new Set(ids)) {
          const shown = held.get(id);
          const refusal =
            shown === undefined
              ? `There is no ${what} ${id}: ${operatorCommand([noun, 'list'], flags)} shows which there are.`
              : await refusalOf(end(server, shown));
          if (refusal !== undefined) refusals.push(refusal);
          else if (shown !== undefined) ended.push(shown);
        }
      }).finally(() => {
        // Also where the store fails in the midst of it: nobody would look for what has ended in the list of what stands.
        if (ended.length > 0) printRecord(records(), () => says().join('\n'), flags);
      });
      if (refusals.length > 0) throw new ExplainedError(refusals.join('\n'));
    },
  };
}

/** Why it may not end, as the service says it. */
async function refusalOf(act: Promise<unknown>): Promise<string | undefined> {
  try {
    await act;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return error.message;
    throw error;
  }
}

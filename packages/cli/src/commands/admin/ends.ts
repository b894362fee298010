import type { Client } from '@sallyport/core/client';
import { logIn } from '../../connect.ts';
import { confirm } from '../../io/confirm.ts';
import { advising } from '../../io/next-step.ts';
import type { CommandAct } from '../act.ts';
import { deleteEach } from '../delete-each.ts';
import { forAdmins } from './for-admins.ts';

export interface EndOptions {
  readonly yes?: boolean;
}

interface Ending {
  /** `API key`: it is ... */
  readonly what: string;
  readonly verb: string;
  readonly done: string;
  /** What it means, for who is asked. */
  readonly means: string;
  /** Where the ids are to be seen. */
  readonly list: string;
  readonly end: (client: Client, id: string, signal: AbortSignal) => Promise<object>;
}

/** The command that takes things away by their ids. */
function ending({ what, verb, done, means, list, end }: Ending): CommandAct<EndOptions> {
  return async (context, { yes = false }, ...given) => {
    const { client } = await logIn(context);
    const ids = [...new Set(given)];
    if (!yes) await confirm(context, `${verb} ${ids.join(', ')}? ${means}`);
    const nextSteps = { ...forAdmins, not_found: `See which there are: sallyport admin ${list} list` };
    const endOne = (id: string) => advising(end(client, id, context.interrupt.asked), nextSteps);
    return deleteEach(context, ids, what, endOne, done);
  };
}

export const keys = ending({
  what: 'API key',
  verb: 'Revoke',
  done: 'revoked',
  means: 'Whatever uses it is refused at once.',
  list: 'keys',
  end: ({ admin }, id, signal) => admin.revokeApiKey({ params: { key_id: id }, signal }),
});

export const devices = ending({
  what: 'Device',
  verb: 'Revoke',
  done: 'revoked',
  means:
    'No bridge is registered with its token any more. One that runs goes on, and its person can trust the machine again: what shuts out is to revoke their login (admin logins revoke).',
  list: 'devices',
  end: ({ admin }, id, signal) => admin.revokeDevice({ params: { device_id: id }, signal }),
});

export const logins = ending({
  what: 'Login',
  verb: 'Revoke',
  done: 'revoked',
  means: 'The program is refused at once, and its person has to log in again.',
  list: 'logins',
  end: ({ admin }, id, signal) => admin.revokeLogin({ params: { login_id: id }, signal }),
});

export const signIns = ending({
  what: 'Sign-in',
  verb: 'End',
  done: 'ended',
  means: 'Its person has to sign in again in that browser, for all their organizations.',
  list: 'sign-ins',
  end: ({ admin }, id, signal) => admin.endSignIn({ params: { sign_in_id: id }, signal }),
});

export const clients = ending({
  what: 'Client',
  verb: 'Remove',
  done: 'removed',
  means: 'All logins with it end, in every organization.',
  list: 'clients',
  end: ({ admin }, id, signal) => admin.removeClient({ params: { client_id: id }, signal }),
});

import { pages } from '@sallyport/core/client';
import { contract, type Session } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import { idsMeant, type Kind } from '../meant.ts';
import { gather, largestPage, orNone } from '../take.ts';

type Asking = Pick<Connection, 'clientOptions'>;

/** The id of the session that a person means by its id, or by the beginning of it among the newest sessions. */
export async function sessionNamed(connection: Asking, given: string, signal: AbortSignal): Promise<string> {
  const [id = given] = await sessionsNamed(connection, [given], signal);
  return id;
}

/** The same for several, each once; they share one look at what there is. */
export function sessionsNamed(
  { clientOptions }: Asking,
  given: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const query = { limit: largestPage };
  return idsMeant(given, sessions, () =>
    // The list is an extension: a service of another make takes whole ids.
    orNone(gather(pages(clientOptions, contract.sessions.list, { query }, { signal }), (body) => body)),
  );
}

const sessions: Kind<Session> = {
  what: 'session',
  prefix: 'session',
  naming: ({ id }) => ({ id }),
  header: ['ID', 'STATUS', 'TITLE'],
  row: ({ id, status, title }) => [id, status, title],
};

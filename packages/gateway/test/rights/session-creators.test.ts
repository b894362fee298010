import { contract, type Session, type SessionEvent } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { things } from './things.ts';
import { openWorld, parties, type Party, type World } from './world.ts';

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

const email = (party: Party) => `${party === 'holder' ? 'holders-own' : party}@example.com`;

function given<T>(
  party: Party,
  ...[endpoint, sent]: [Parameters<World['call']>[0], Parameters<World['call']>[2]?]
) {
  return world.given<T>(endpoint, world.person(party).accessToken, sent);
}

const get = (party: Party, id: string) => given<Session>(party, contract.sessions.get, { params: { id } });

const list = (party: Party, query = '') => given<Session[]>(party, contract.sessions.list, { query });

/** A session that `party` creates on the holder's machine. */
async function created(party: Party): Promise<Session> {
  const { params } = await things.environment(world);
  return given<Session>(party, contract.sessions.create, {
    headers: {
      'x-environment-runner-version': '1',
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': world.organizationId,
    },
    body: { environment_id: params.env_id },
  });
}

/** The events that `party` reads of a session's log by now; the status where it may not. */
async function eventsOf(party: Party, id: string): Promise<SessionEvent[] | number> {
  const leaving = new AbortController();
  const answer = await fetch(`${world.url}/v1/sessions/${id}/events/stream?beta=true`, {
    headers: { authorization: `Bearer ${world.person(party).accessToken}` },
    signal: leaving.signal,
  });
  if (!answer.ok) return answer.status;
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>)
    if ((text += decoder.decode(piece, { stream: true })).includes('event: caught_up')) break;
  leaving.abort();
  const data = [...text.matchAll(/^id: \d+\ndata: (.*)$/gm)].map(([, line = '']) => line);
  return data.map((line) => JSON.parse(line) as SessionEvent);
}

interface Entry {
  readonly subject: string;
  readonly actor: { readonly id: string; readonly email: string };
  readonly account: { readonly id: string };
  readonly organization_id: string;
  readonly details: object;
  readonly address: string;
}

const deletions = async (id: string) =>
  (await given<Entry[]>('admin', contract.admin.listAudit, { query: '?action=session.delete' })).filter(
    ({ subject }) => subject === id,
  );

test('who created a session everybody in the organization sees, by e-mail address, and nobody else', async () => {
  const session = await created('colleague');
  const { accountId } = world.person('colleague');
  expect(session.account).toEqual({ id: accountId });
  const known = { id: accountId, email: email('colleague') };
  for (const party of ['holder', 'viewer', 'admin', 'colleague'] as const) {
    expect([party, (await get(party, session.id)).account]).toEqual([party, known]);
    const listed = (await list(party)).find(({ id }) => id === session.id);
    expect([party, listed?.account]).toEqual([party, known]);
  }
  expect(JSON.stringify(await list('foreign'))).not.toContain(accountId);
});

test('the list has those of one account alone, in either case, and never those of another organization', async () => {
  const [mine, theirs] = [await created('colleague'), await created('holder')];
  const of = async (party: Party, asked: Party, spell = (id: string) => id) =>
    (await list(party, `?account_id=${spell(world.person(asked).accountId)}`)).map(({ id }) => id);
  for (const party of parties.filter((each) => each !== 'foreign'))
    expect(await of(party, 'colleague')).toEqual(expect.arrayContaining([mine.id]));
  expect(await of('colleague', 'colleague', (id) => id.toUpperCase())).toContain(mine.id);
  expect(await of('colleague', 'colleague')).not.toContain(theirs.id);
  expect(await of('foreign', 'colleague')).toEqual([]);
  expect(await of('colleague', 'foreign')).toEqual([]);
  const { status } = await world.call(contract.sessions.list, world.person('holder').accessToken, {
    query: '?account_id=',
  });
  expect(status).toBe(400);
});

test('the list has those of one e-mail address alone, and none where nobody in the organization has it', async () => {
  const [theirs, other] = [await created('colleague'), await created('holder')];
  const of = async (party: Party, asked: string, more = '') =>
    (await list(party, `?account_email=${encodeURIComponent(asked)}${more}`)).map(({ id }) => id);
  const { accountId } = world.person('colleague');
  for (const party of parties.filter((each) => each !== 'foreign')) {
    const listed = await of(party, email('colleague'));
    expect(listed).toContain(theirs.id);
    expect(listed).not.toContain(other.id);
  }
  expect(await of('holder', email('colleague').toUpperCase())).toContain(theirs.id);
  expect(await of('holder', email('colleague'), `&account_id=${accountId.toUpperCase()}`)).toContain(
    theirs.id,
  );
  expect(await of('holder', email('holder'), `&account_id=${accountId}`)).toEqual([]);
  expect(await of('foreign', email('colleague'))).toEqual([]);
  for (const nobody of [email('foreign'), 'nobody@example.com'])
    expect(await of('colleague', nobody)).toEqual([]);
  const { status } = await world.call(contract.sessions.list, world.person('holder').accessToken, {
    query: '?account_email=me',
  });
  expect(status).toBe(400);
});

test('what an API key creates is of the account that has the key', async () => {
  const { accountId, accessToken } = world.person('colleague');
  const { text: key } = await world.call(contract.oauth.createApiKey, accessToken, { body: {} });
  const { params } = await things.environment(world);
  const session = await world.given<Session>(contract.sessions.create, key, {
    headers: {
      'x-environment-runner-version': '1',
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': world.organizationId,
    },
    body: { environment_id: params.env_id },
  });
  const read = await world.given<Session>(contract.sessions.get, key, { params: { id: session.id } });
  expect(read.account).toEqual({ id: accountId, email: email('colleague') });
  // By which a command finds its own.
  expect(await world.given(contract.account.bootstrap, key)).toMatchObject({ account: { uuid: accountId } });
});

test('who deletes the session of somebody else is in the audit log; what is one’s own to delete is not', async () => {
  const [byAdmin, byMachine, own] = [
    await created('colleague'),
    await created('colleague'),
    await created('colleague'),
  ];
  for (const [party, { id }] of [
    ['admin', byAdmin],
    ['holder', byMachine],
    ['colleague', own],
  ] as const)
    await given(party, contract.sessions.delete, { params: { id } });
  for (const [party, session] of [
    ['admin', byAdmin],
    ['holder', byMachine],
  ] as const)
    expect(await deletions(session.id)).toMatchObject([
      {
        actor: { id: world.person(party).accountId, email: email(party) },
        account: { id: world.person('colleague').accountId },
        organization_id: world.organizationId,
        details: { environment_id: session.environment_id },
        address: '127.0.0.1',
      },
    ]);
  expect(await deletions(own.id)).toEqual([]);
  // Refused, and gone already: nothing was done.
  const other = await created('admin');
  const refused = [
    await world.call(contract.sessions.delete, world.person('colleague').accessToken, {
      params: { id: other.id },
    }),
    await world.call(contract.sessions.delete, world.person('admin').accessToken, {
      params: { id: byAdmin.id },
    }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 404]);
  expect(await deletions(other.id)).toEqual([]);
  expect(await deletions(byAdmin.id)).toHaveLength(1);
});

test('who sent an event everybody in the organization sees, by e-mail address, and nobody else', async () => {
  const { id } = await created('holder');
  const { text: key } = await world.call(contract.oauth.createApiKey, world.person('admin').accessToken, {
    body: {},
  });
  const senders = [
    ['colleague', world.person('colleague').accessToken],
    ['admin', key],
  ] as const;
  for (const [party, credential] of senders)
    await world.given(contract.sessions.append, credential, {
      params: { id },
      body: {
        events: [
          // In somebody else's name: it is as if it were not said.
          {
            type: 'session.message',
            data: { text: party },
            account: { id: world.person('holder').accountId },
          },
        ],
      },
    });
  for (const party of ['holder', 'viewer', 'admin', 'colleague'] as const) {
    const read = await eventsOf(party, id);
    expect([party, read]).toMatchObject([
      party,
      senders.map(([sender]) => ({
        data: { text: sender },
        account: { id: world.person(sender).accountId, email: email(sender) },
      })),
    ]);
  }
  expect(await eventsOf('foreign', id)).toBe(404);
});

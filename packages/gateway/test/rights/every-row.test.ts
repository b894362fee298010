import { endpoints, scopes, type Endpoint } from '@sallyport/core/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rights, type Outcome, type Right } from './rights.ts';
import { things, type Thing } from './things.ts';
import { mark, openWorld, parties, type Answer, type Party, type World } from './world.ts';

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

const byId = rights as Readonly<Record<string, (typeof rights)[keyof typeof rights] | undefined>>;
const rows = endpoints.map((endpoint) => ({ endpoint, id: endpoint.id, right: byId[endpoint.id] }));

function credentialOf(endpoint: Endpoint, party: Party, thing: Thing): string | undefined {
  if (endpoint.auth === 'ingress') return thing.workers?.[party];
  const { sessionKey, accessToken } = world.person(party);
  return endpoint.auth === 'session_key' ? sessionKey : accessToken;
}

async function ask(endpoint: Endpoint, right: Right, party: Party, thing: Thing): Promise<Answer> {
  const sent = right.send?.(thing.params, world.person(party)) ?? {};
  return world.call(endpoint, credentialOf(endpoint, party, thing), { params: thing.params, ...sent });
}

/** Whether an answer shows what is only for the holder's organization. */
function shows(text: string, { params }: Thing = { params: {} }): boolean {
  const { organizationId, accountId } = world.person('holder');
  return [mark, organizationId, accountId, ...Object.values(params)].some((trace) => text.includes(trace));
}

function check(party: Party, outcome: Outcome, { status, text }: Answer, thing: Thing): void {
  if (outcome === 'blind') expect([party, status, shows(text, thing)], text).toEqual([party, 200, false]);
  else expect([party, status], text).toEqual([party, outcome]);
  if (party === 'foreign') expect(shows(text), text).toBe(false);
}

/** The same with all UUIDs in capital letters. */
function loud<T>(value: T): T {
  const uuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
  return JSON.parse(JSON.stringify(value).replace(uuid, (found) => found.toUpperCase())) as T;
}

const isRefused = (outcome: Outcome) => outcome !== '-' && outcome !== 'blind' && outcome >= 400;

test('every row of the contract says who may call it', () => {
  expect(Object.keys(rights).sort()).toEqual(endpoints.map(({ id }) => id).sort());
});

describe.each(rows)('$id', ({ endpoint, right }) => {
  if (right === undefined) return test('says who may call it', () => expect.unreachable(endpoint.id));
  if (right === 'open')
    return test('is open, and shows nothing of an organization', async () => {
      expect(endpoint.auth).toBe('none');
      expect(shows((await world.call(endpoint, world.person('holder').accessToken)).text)).toBe(false);
    });

  const outcomes = parties.map((party, index) => ({ party, outcome: right.who[index] ?? '-' }));
  const others = outcomes.filter(({ party, outcome }) => party !== 'holder' && outcome !== '-');

  test('is refused to those who may not, and then does for its holder what it does', async () => {
    const thing = await things[right.on](world);
    for (const { party, outcome } of others.filter((one) => isRefused(one.outcome)))
      check(party, outcome, await ask(endpoint, right, party, thing), thing);
    const answer = await ask(endpoint, right, 'holder', thing);
    check('holder', right.who[0], answer, thing);
    // Or that others are shown nothing would say nothing.
    const seer = outcomes.find(({ outcome }) => outcome === 200)?.party;
    if (!right.who.includes('blind') || seer === undefined) return;
    const { text } = seer === 'holder' ? answer : await ask(endpoint, right, seer, thing);
    expect(shows(text, thing), text).toBe(true);
  });

  test('takes a UUID in either case (RFC 9562 4)', async () => {
    const thing = await things[right.on](world);
    const { party, outcome } = outcomes.find((each) => each.outcome === 200) ?? {
      party: 'holder',
      outcome: '-',
    };
    if (outcome === '-') return;
    const sent = { params: thing.params, ...right.send?.(thing.params, world.person(party)) };
    check(
      party,
      outcome,
      await world.call(endpoint, credentialOf(endpoint, party, thing), loud(sent)),
      thing,
    );
  });

  test('is open to the others', async () => {
    for (const { party, outcome } of others.filter((one) => !isRefused(one.outcome))) {
      const thing = await things[right.on](world);
      check(party, outcome, await ask(endpoint, right, party, thing), thing);
    }
  });
});

const guarded = endpoints.filter(({ auth }) => auth !== 'none' && auth !== 'optional');

test.each(guarded)('$id is nobody’s without a credential', async (endpoint) => {
  expect((await world.call(endpoint, undefined)).status).toBe(401);
});

const scoped = endpoints.filter(({ auth }) => auth === 'access_token');

test.each(scoped)('$id needs its scope', async (endpoint) => {
  const scope = endpoint.id === 'oauth.profile' ? 'profile' : 'vendor_api';
  const { status, text } = await world.call(endpoint, await tokenWithout(scope));
  expect([status, JSON.parse(text)]).toMatchObject([403, { error: 'insufficient_scope', scope }]);
});

const narrow = new Map<string, Promise<string>>();

/** An admin's token with all scopes but this one. */
function tokenWithout(scope: string): Promise<string> {
  const others = scopes.filter((name) => name !== scope).join(' ');
  const { sessionKey, organizationId } = world.person('admin');
  const token =
    narrow.get(scope) ??
    world.login(sessionKey, organizationId, others).then(({ accessToken }) => accessToken);
  narrow.set(scope, token);
  return token;
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientId, openServer, refusal, type TestServer } from './open-server.ts';

const graceMs = 30_000;

/** Refresh tokens as they should go, in its own words and none of the engine's. */
class RefreshTable {
  /** When the successor of each generation was first given out. */
  readonly rotatedAt = new Map<number, number>();
  newest = 1;
  isRevoked = false;

  /** What the presented generation is answered with: that of the refresh token, or a refusal. */
  present(generation: number, now: number): number | 'refused' {
    if (this.isRevoked) return 'refused';
    if (generation === this.newest) {
      this.rotatedAt.set(generation, now);
      this.newest += 1;
      return this.newest;
    }
    const isLate = now - (this.rotatedAt.get(generation) ?? -Infinity) > graceMs;
    if (isLate) this.isRevoked = true;
    return !isLate && generation === this.newest - 1 ? this.newest : 'refused';
  }
}

type Name = 'ann' | 'bob' | 'thief';
type Step =
  /** Reads the file with the tokens: the thief, too, who keeps what it read. */
  | { readonly does: 'read'; readonly who: Name }
  /** Sends what it read last; the answer arrives, or is lost on the way. */
  | { readonly does: 'send'; readonly who: Name; readonly isLost: boolean }
  /** Both send at the same moment. */
  | { readonly does: 'race' }
  /** Writes what it was answered last to the file; the thief keeps it to itself. */
  | { readonly does: 'store'; readonly who: Name }
  | { readonly does: 'wait'; readonly ms: number };

const who = fc.constantFrom<Name[]>('ann', 'bob', 'thief');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('read' as const), who }),
  { arbitrary: fc.record({ does: fc.constant('send' as const), who, isLost: fc.boolean() }), weight: 3 },
  fc.record({ does: fc.constant('race' as const) }),
  { arbitrary: fc.record({ does: fc.constant('store' as const), who }), weight: 2 },
  fc.record({
    does: fc.constant('wait' as const),
    ms: fc.constantFrom(1, 1000, 10_000, 29_999, 30_000, 30_001, 120_000),
  }),
);

const generationOf = (token: string) => Number(token.split('.')[1]);

/** Two clients that share a file, and a thief that reads it, over the real engine; each answer is held against the table. */
async function play(steps: readonly Step[]) {
  const opened = await openServer();
  const first = (await opened.exchange(await opened.code())).refresh_token ?? '';
  const table = new RefreshTable();
  const issued = new Map([[1, first]]);
  const held: Record<Name, string> = { ann: first, bob: first, thief: first };
  const answered: Partial<Record<Name, string>> = {};
  let file = first;
  let hasLateReplay = false;

  async function send(name: Name, isLost = false): Promise<void> {
    const generation = generationOf(held[name]);
    const now = opened.clock.now();
    hasLateReplay ||= now - (table.rotatedAt.get(generation) ?? now) > graceMs;
    const expected = table.present(generation, now);
    let token: string | undefined;
    const code = await refusal(
      opened.refresh(held[name]).then(({ refresh_token: got }) => void (token = got)),
    );
    expect(code ?? generationOf(token ?? '')).toBe(expected === 'refused' ? 'invalid_grant' : expected);
    if (token === undefined) return;
    // One token a generation: nobody holds another line of the same login.
    expect(token).toBe(issued.get(generationOf(token)) ?? token);
    issued.set(generationOf(token), token);
    if (!isLost) answered[name] = token;
  }

  for (const step of steps) {
    if (step.does === 'wait') opened.clock.jump(step.ms);
    else if (step.does === 'read') held[step.who] = file;
    else if (step.does === 'send') await send(step.who, step.isLost);
    else if (step.does === 'race') await Promise.all([send('ann'), send('bob')]);
    else {
      const token = answered[step.who];
      if (token === undefined) continue;
      held[step.who] = token;
      if (step.who !== 'thief') file = token;
    }
  }
  return { opened, table, issued, hasLateReplay };
}

function liveFamilies({ store }: TestServer): number {
  const row = store.db.prepare('SELECT count(*) AS n FROM oauth_family WHERE revoked_at IS NULL').get();
  return Number(row?.['n']);
}

describe('any interleaving of two retrying clients, a thief and the clock', () => {
  test('is answered as the table says: one line of tokens lives at most, and whoever retries in time stays logged in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 30 }), async (steps) => {
        const { opened, table, issued, hasLateReplay } = await play(steps);
        expect(liveFamilies(opened)).toBe(hasLateReplay ? 0 : 1);
        opened.clock.jump(graceMs + 1);
        const newest = issued.get(table.newest) ?? '';
        expect(await refusal(opened.refresh(newest))).toBe(hasLateReplay ? 'invalid_grant' : undefined);
        // Whoever comes with any other token now is seen as the thief that one of the two must be.
        const older = issued.get(table.newest - 1);
        if (older === undefined) return;
        expect(await refusal(opened.refresh(older))).toBe('invalid_grant');
        expect(liveFamilies(opened)).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});

describe('one grant', () => {
  type Use = { readonly presents: 'right' | 'wrong verifier' | 'other client' } | { readonly waitMs: number };
  const use: fc.Arbitrary<Use> = fc.oneof(
    fc.record({ presents: fc.constantFrom('right' as const, 'wrong verifier', 'other client') }),
    fc.record({ waitMs: fc.constantFrom(1, 1000, 31_000, 61_000) }),
  );

  test.each([
    ['strict', 0],
    ['repeatable for 30 s', 30],
  ])(
    'never makes two logins, whoever exchanges the code how often (%s)',
    async (_case, codeReplaySeconds) => {
      await fc.assert(
        fc.asyncProperty(fc.array(use, { maxLength: 12 }), async (uses) => {
          const opened = await openServer({ codeReplaySeconds });
          const other = await opened.server.clients.add({ name: 'Other', redirectUris: [] });
          const code = await opened.code();
          let successes = 0;
          for (const one of uses) {
            if ('waitMs' in one) opened.clock.jump(one.waitMs);
            else {
              const changes = {
                ...(one.presents === 'wrong verifier' && { code_verifier: 'w'.repeat(43) }),
                ...(one.presents === 'other client' && { client_id: other.id }),
              };
              const refused = await refusal(opened.exchange(code, changes));
              if (refused === undefined) successes += 1;
              if (one.presents !== 'right') expect(refused).toBe('invalid_grant');
            }
            expect(liveFamilies(opened)).toBeLessThanOrEqual(1);
          }
          if (codeReplaySeconds === 0) expect(successes).toBeLessThanOrEqual(1);
        }),
        { numRuns: 40 },
      );
    },
  );

  test('never makes two logins of one device code, however polls and decisions meet', async () => {
    const step = fc.constantFrom('poll', 'poll twice at once', 'approve', 'deny', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const opened = await openServer();
        const { server, owner, organizationId, clock, poll } = opened;
        const { device_code: code, user_code: typed } = await server.deviceFlow.start(
          { client_id: clientId },
          '127.0.0.1',
        );
        let approved = false;
        let denied = false;
        let logins = 0;
        const decide = (approve: boolean) =>
          refusal(server.deviceFlow.decide(typed, owner, '127.0.0.1', { approve, organizationId }));
        const count = async () => {
          if ((await refusal(poll(code))) === undefined) logins += 1;
        };
        for (const one of steps) {
          if (one === 'wait') clock.jump(5000);
          else if (one === 'poll') await count();
          else if (one === 'poll twice at once') await Promise.all([count(), count()]);
          else if ((await decide(one === 'approve')) === undefined) {
            expect(approved || denied).toBe(false);
            if (one === 'approve') approved = true;
            else denied = true;
          }
        }
        expect(logins).toBeLessThanOrEqual(approved ? 1 : 0);
        expect(liveFamilies(opened)).toBe(logins);
      }),
      { numRuns: 40 },
    );
  });
});

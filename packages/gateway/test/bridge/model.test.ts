import type { Caller, WorkerClaims } from '@sallyport/bridge/server';
import { ServiceError } from '@sallyport/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openHarness, owner, type Harness } from './harness.ts';
import { openSocket, type TestSocket } from './socket.ts';

/** A stream that a worker opened, and the token that it keeps. */
interface Holder {
  readonly sessionId: string;
  readonly claims: WorkerClaims;
  socket: TestSocket;
}

const workers: readonly Caller[] = ['a', 'b'].map((workerKey) => ({ ...owner, workerKey }));

type Step =
  | { readonly do: 'create' }
  | { readonly do: 'poll' | 'ack' | 'run' | 'start'; readonly worker: number }
  | {
      readonly do: 'crash' | 'reconnect' | 'exit' | 'say' | 'resend' | 'stop' | 'force';
      readonly pick: number;
    }
  | { readonly do: 'pass'; readonly seconds: number };

const worker = fc.nat(workers.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant({ do: 'create' as const }),
  // `start`: poll, ack and run, one after the other, as a bridge does.
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('poll' as const, 'ack', 'run', 'start', 'start'), worker }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'crash' as const,
        'reconnect',
        'reconnect',
        'exit',
        'say',
        'say',
        'resend',
        'stop',
        'force',
      ),
      pick: fc.nat(3),
    }),
  },
  fc.record({ do: fc.constant('pass' as const), seconds: fc.constantFrom(1, 11, 61, 301) }),
);

class World {
  readonly harness: Harness = openHarness();
  env = '';
  readonly sessions: { readonly id: string; readonly workId: string }[] = [];
  readonly holders: Holder[] = [];
  readonly said: { readonly holder: Holder; readonly id: string }[] = [];
  #next = 0;

  async start(): Promise<void> {
    this.env = await this.harness.register();
    await this.harness.engine.start();
    this.sessions.push(await this.harness.session(this.env));
  }

  async take(given: Step): Promise<void> {
    const { clock, session } = this.harness;
    if (given.do === 'pass') await clock.advance(given.seconds * 1000);
    else if (given.do === 'create') this.sessions.push(await session(this.env));
    else if ('worker' in given) await this.work(given.do, workers[given.worker] ?? owner);
    else if (given.do === 'stop' || given.do === 'force') await this.stop(given.pick, given.do === 'force');
    else await this.stream(given.do, this.holders[given.pick % Math.max(1, this.holders.length)]);
    await settled();
  }

  async work(what: 'poll' | 'ack' | 'run' | 'start', caller: Caller): Promise<void> {
    const { engine, poll } = this.harness;
    if (what === 'poll' || what === 'start') {
      const workId = await poll(this.env, caller);
      // What is handed out is not running: nobody has a stream that may still write.
      if (workId !== undefined) expect(this.live(this.sessionOf(workId))).toHaveLength(0);
    }
    if (what === 'ack' || what === 'start')
      for (const { workId } of this.sessions)
        if (this.harness.workState(workId) === 'delivered')
          await refused(engine.bridge.ack(caller, { environmentId: this.env, workId }));
    if (what === 'run' || what === 'start') await this.run(caller);
  }

  /** The worker takes over the newest session that it acknowledged. */
  async run(caller: Caller): Promise<void> {
    const { engine, db, tokens } = this.harness;
    const row = db
      .prepare(
        "SELECT session_id FROM work WHERE acked_by = ? AND state IN ('active', 'lost') ORDER BY id DESC",
      )
      .get(caller.workerKey);
    if (!row) return;
    const sessionId = String(row['session_id']);
    const { worker_jwt } = await engine.worker.takeOver(caller, sessionId, {});
    const claims = await tokens.verify(worker_jwt);
    const attach = await engine.worker.open(claims, sessionId, { from: undefined });
    const socket = openSocket();
    attach(socket);
    this.holders.unshift({ sessionId, claims, socket });
  }

  async stop(pick: number, force: boolean): Promise<void> {
    const session = this.sessions[pick % this.sessions.length];
    if (!session) return;
    const { engine } = this.harness;
    const { workId } = session;
    const wasOpen = ['active', 'stopping', 'lost'].includes(String(this.harness.workState(workId)));
    await engine.bridge.stop(owner, { environmentId: this.env, workId, force, proof: null });
    await settled();
    if (force && wasOpen) expect(this.live(session.id)).toHaveLength(0);
  }

  async stream(
    what: 'crash' | 'reconnect' | 'exit' | 'say' | 'resend',
    holder: Holder | undefined,
  ): Promise<void> {
    if (!holder) return;
    const { sessionId, claims, socket } = holder;
    if (what === 'crash') this.holders.splice(this.holders.indexOf(holder), 1);
    if (what === 'crash') socket.hangUp();
    if (what === 'exit')
      socket.say({ id: `exit${String(this.#next++)}`, type: 'worker.exited', data: { exit_code: 0 } });
    if (what === 'reconnect' && socket.closed !== undefined) {
      const open = this.harness.engine.worker.open(claims, sessionId, { from: undefined });
      const attach = await refused(open);
      if (attach) attach((holder.socket = openSocket()));
    }
    if (what === 'say' || what === 'resend') {
      const earlier = this.said.find((said) => said.holder === holder);
      const id = what === 'resend' && earlier ? earlier.id : `e${String(this.#next++)}`;
      this.said.push({ holder, id });
      socket.say({ id, type: 'note', data: {} });
    }
  }

  sessionOf(workId: string): string {
    return this.sessions.find((session) => session.workId === workId)?.id ?? '';
  }

  /** The workers of a session whose stream is open. */
  live(sessionId: string): Holder[] {
    return this.holders.filter(
      (holder) => holder.sessionId === sessionId && holder.socket.closed === undefined,
    );
  }

  async check(): Promise<void> {
    for (const { id, workId } of this.sessions) {
      expect(this.live(id).length).toBeLessThanOrEqual(1);
      const events = await this.harness.events(id);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
      this.checkStatus(String(this.harness.workState(workId)), events);
    }
  }

  /** Followers see each change once, an end at most once and last, and the status that the session has. */
  checkStatus(state: string, events: Awaited<ReturnType<Harness['events']>>): void {
    const statuses = events.flatMap(({ type, data }) => (type === 'session.updated' ? [data['status']] : []));
    for (const [index, status] of statuses.entries()) {
      expect(status).not.toBe(statuses[index - 1]);
      if (index < statuses.length - 1) expect(['done', 'failed', 'stopped']).not.toContain(status);
    }
    const expected = { delivered: 'queued', active: 'running', lost: 'disconnected', dead: 'failed' };
    expect(statuses.at(-1) ?? 'queued').toBe(
      Object.hasOwn(expected, state) ? expected[state as 'dead'] : state,
    );
  }
}

/** The call's answer, or undefined where it is a conflict. */
async function refused<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 409) return undefined;
    throw error;
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('no interleaving gives work two live workers, stores an event twice, or leaves a gap', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = new World();
      await world.start();
      for (const given of steps) {
        await world.take(given);
        await world.check();
      }
      await world.harness.engine.stop();
      world.harness.db.close();
    }),
    { numRuns: 100 },
  );
});

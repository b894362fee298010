import type { Caller, WorkerClaims } from '@sallyport/bridge/server';
import { ServiceError } from '@sallyport/core';
import { expect } from 'vitest';
import { openHarness, owner, type Harness } from './harness.ts';
import { settled } from './running-session.ts';
import { openSocket, type TestSocket } from './socket.ts';

/** A worker that took a session over, and the stream that it opened. */
interface Holder {
  readonly sessionId: string;
  readonly claims: WorkerClaims;
  socket: TestSocket;
}

interface Job {
  readonly id: string;
  readonly workId: string;
}

const bridges: readonly Caller[] = ['a', 'b'].map((workerKey) => ({ ...owner, workerKey }));

export type Step =
  | { readonly do: 'create' }
  | { readonly do: 'poll' | 'ack' | 'run' | 'start' | 'leave'; readonly bridge: number }
  | { readonly do: 'crash' | 'reopen' | 'exit' | 'say' | 'resend'; readonly holder: number }
  | { readonly do: 'stop' | 'force'; readonly session: number }
  /** `isProven`: with the token of the newest worker. */
  | { readonly do: 'reconnect'; readonly session: number; readonly isProven: boolean }
  | { readonly do: 'pass'; readonly seconds: number };

/** The engine with two bridges that do what they like; `check` says what must hold whatever they did. */
export class World {
  readonly harness: Harness = openHarness();
  #env = '';
  readonly #jobs: Job[] = [];
  readonly #holders: Holder[] = [];
  readonly #said: { readonly holder: Holder; readonly id: string }[] = [];
  /** Every stream that ever was, for what it was told. */
  readonly #streams: { readonly sessionId: string; readonly socket: TestSocket }[] = [];
  readonly #before = new Map<string, { readonly attempt: number; readonly epoch: number }>();
  #next = 0;

  async start(): Promise<void> {
    this.#env = await this.harness.register(bridges[0]);
    await this.harness.engine.start();
    this.#jobs.push(await this.harness.session(this.#env));
  }

  async take(step: Step): Promise<void> {
    const { clock, session } = this.harness;
    if (step.do === 'pass') await clock.advance(step.seconds * 1000);
    else if (step.do === 'create') this.#jobs.push(await session(this.#env));
    else if ('bridge' in step) await this.#act(step.do, bridges[step.bridge] ?? owner);
    else if ('holder' in step) await this.#stream(step.do, pick(this.#holders, step.holder));
    else {
      const job = pick(this.#jobs, step.session);
      if (job && step.do === 'reconnect') await this.#reconnect(job, step.isProven);
      else if (job) await this.#stop(job, step.do === 'force');
    }
    await settled();
  }

  async check(): Promise<void> {
    for (const { id, workId } of this.#jobs) {
      expect(this.#live(id).length).toBeLessThanOrEqual(1);
      const events = await this.harness.events(id);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
      for (const { sessionId, socket } of this.#streams)
        for (const frame of sessionId === id ? socket.frames : [])
          if (frame.type === 'ack' && 'id' in frame) expect(events[frame.seq - 1]?.id).toBe(frame.id);
      this.#checkStatus(String(this.harness.workState(workId)), events);
      this.#checkEpoch(id);
    }
  }

  /** Followers see each change once, an end at most once and last, and the status that the session has. */
  #checkStatus(state: string, events: Awaited<ReturnType<Harness['events']>>): void {
    const statuses = events.flatMap(({ type, data }) => (type === 'session.updated' ? [data['status']] : []));
    for (const [index, status] of statuses.entries()) {
      expect(status).not.toBe(statuses[index - 1]);
      if (['done', 'failed', 'stopped'].includes(String(status))) {
        expect(index).toBe(statuses.length - 1);
        expect(events.at(-1)?.type).toBe('session.updated');
      }
    }
    const expected = { delivered: 'queued', active: 'running', lost: 'disconnected', dead: 'failed' };
    expect(statuses.at(-1) ?? 'queued').toBe(
      Object.hasOwn(expected, state) ? expected[state as 'dead'] : state,
    );
  }

  /** An epoch never falls, and whoever had the attempt before the present one is fenced off. */
  #checkEpoch(sessionId: string): void {
    const row = this.harness.db
      .prepare(
        'SELECT attempt, epoch FROM work JOIN session ON session.work_id = work.id WHERE session_id = ?',
      )
      .get(sessionId);
    const now = { attempt: Number(row?.['attempt']), epoch: Number(row?.['epoch']) };
    const before = this.#before.get(sessionId) ?? { attempt: 1, epoch: 0 };
    expect(now.epoch).toBeGreaterThanOrEqual(before.epoch);
    if (now.attempt > before.attempt) expect(now.epoch).toBeGreaterThan(before.epoch);
    this.#before.set(sessionId, now);
  }

  async #act(what: 'poll' | 'ack' | 'run' | 'start' | 'leave', caller: Caller): Promise<void> {
    const { engine, poll, workState } = this.harness;
    if (what === 'leave') return this.#leave(caller);
    if (what === 'poll' || what === 'start') {
      const workId = await poll(this.#env, caller);
      // What is handed out is not running: nobody has a stream that may still write.
      const sessionId = this.#jobs.find((job) => job.workId === workId)?.id;
      if (sessionId !== undefined) expect(this.#live(sessionId)).toHaveLength(0);
    }
    if (what === 'ack' || what === 'start')
      for (const { workId } of this.#jobs)
        if (workState(workId) === 'delivered')
          await refused(engine.bridge.ack(caller, { environmentId: this.#env, workId }));
    if (what === 'run' || what === 'start') await this.#run(caller);
  }

  /** The bridge takes over the newest session that it acknowledged. */
  async #run(caller: Caller): Promise<void> {
    const { engine, db, tokens } = this.harness;
    const row = db
      .prepare(
        "SELECT session_id FROM work WHERE acked_by = ? AND state IN ('active', 'lost') ORDER BY id DESC",
      )
      .get(caller.workerKey);
    if (!row) return;
    const sessionId = String(row['session_id']);
    const earlier = this.#holders.filter((holder) => holder.sessionId === sessionId);
    const { worker_jwt } = await engine.worker.takeOver(caller, sessionId, {});
    const claims = await tokens.verify(worker_jwt);
    for (const { claims: old } of earlier) expect(claims.epoch).toBeGreaterThan(old.epoch);
    const attach = await engine.worker.open(claims, sessionId, { from: undefined });
    this.#holders.unshift({ sessionId, claims, socket: this.#attached(sessionId, attach) });
  }

  async #leave({ workerKey }: Caller): Promise<void> {
    const { engine } = this.harness;
    const status = async () => {
      const query = { organizationId: 'org', workerTypes: ['cowork'], limit: 1 };
      return (await engine.bridge.list(owner, query)).items[0]?.status;
    };
    const before = await status();
    const left = await engine.bridge.leave(owner, this.#env, workerKey);
    // Only the first of the two has registered.
    expect(left.status).toBe(workerKey === bridges[0]?.workerKey ? 'offline' : before);
    expect(await status()).toBe(left.status);
  }

  async #reconnect({ id, workId }: Job, isProven: boolean): Promise<void> {
    const { engine, workState } = this.harness;
    const newest = isProven ? this.#holders.find(({ sessionId }) => sessionId === id) : undefined;
    const before = workState(workId);
    const live = this.#live(id).length;
    const proof = newest ? { sessionId: id, epoch: newest.claims.epoch } : null;
    const answer = await refused(
      engine.bridge.reconnect(owner, { environmentId: this.#env, sessionId: id, proof }),
    );
    await settled();
    if (answer) expect(answer.state).toBe(workState(workId));
    else expect(workState(workId)).toBe(before);
    if (!newest && live > 0) expect(answer).toBeUndefined();
    if (!newest && live === 0 && (before === 'active' || before === 'lost'))
      expect(['queued', 'failed']).toContain(answer?.state);
    // A worker that lives is never cut off by it.
    if (live > 0) expect(this.#live(id)).toHaveLength(live);
  }

  async #stop({ id, workId }: Job, force: boolean): Promise<void> {
    const { engine, workState } = this.harness;
    const wasOpen = ['active', 'stopping', 'lost'].includes(String(workState(workId)));
    await engine.bridge.stop(owner, { environmentId: this.#env, workId, force, proof: null });
    await settled();
    if (force && wasOpen) expect(this.#live(id)).toHaveLength(0);
  }

  async #stream(
    what: 'crash' | 'reopen' | 'exit' | 'say' | 'resend',
    holder: Holder | undefined,
  ): Promise<void> {
    if (!holder) return;
    const { sessionId, claims, socket } = holder;
    if (what === 'crash') this.#holders.splice(this.#holders.indexOf(holder), 1);
    if (what === 'crash') socket.hangUp();
    if (what === 'exit')
      socket.say({ id: `exit${this.#next++}`, type: 'worker.exited', data: { exit_code: 0 } });
    if (what === 'reopen' && socket.closed !== undefined) {
      const attach = await refused(this.harness.engine.worker.open(claims, sessionId, { from: undefined }));
      if (attach) holder.socket = this.#attached(sessionId, attach);
    }
    if (what === 'say' || what === 'resend') {
      const earlier = this.#said.find((said) => said.holder === holder);
      const id = what === 'resend' && earlier ? earlier.id : `e${this.#next++}`;
      this.#said.push({ holder, id });
      socket.say({ id, type: 'note', data: {} });
    }
  }

  #attached(sessionId: string, attach: (socket: TestSocket) => void): TestSocket {
    const socket = openSocket();
    this.#streams.push({ sessionId, socket });
    attach(socket);
    return socket;
  }

  /** The workers of a session whose stream is open. */
  #live(sessionId: string): Holder[] {
    return this.#holders.filter(
      (holder) => holder.sessionId === sessionId && holder.socket.closed === undefined,
    );
  }
}

function pick<T>(of: readonly T[], index: number): T | undefined {
  return of[index % Math.max(1, of.length)];
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

import { describe, expect, test } from 'vitest';
import { defaultBridgeConfig, workTerms } from './config.ts';
import type { Work } from './records.ts';
import { finalStatuses, finalWorkStates } from '@sallyport/core/contract';
import {
  conditions,
  finalStates,
  idleStates,
  isFinal,
  runningStates,
  sessionStatus,
  waitingStates,
  workStates,
  type Condition,
  type Facts,
  type Move,
} from './states.ts';
import { advance } from './verdict.ts';
import { judgeAck, judgeDelivery, judgeLapse, judgeReturn, judgeTakeOver } from './work-judgements.ts';

const terms = workTerms(defaultBridgeConfig);
const given = { now: 1000, terms };
const queued: Work = {
  id: 'work_1',
  environmentId: 'env_1',
  sessionId: 'session_1',
  type: 'session',
  state: 'queued',
  deadline: null,
  deliveries: 0,
  attempt: 1,
  ackedBy: null,
  attached: false,
  reason: null,
};
const states = Object.keys(workStates) as (keyof typeof workStates)[];
const moves = states.flatMap((from) => workStates[from].moves.map((move) => ({ from, move })));

describe('the table of states', () => {
  test('gives exactly the states that wait for a sign a deadline', () => {
    const waiting = ['delivered', 'active', 'stopping'];
    for (const { from, move } of moves)
      expect([from, move.on, move.deadline !== undefined]).toEqual([
        from,
        move.on,
        waiting.includes(move.to),
      ]);
    for (const state of states)
      expect([state, workStates[state].moves.some(({ on }) => on === 'lapse')]).toEqual([
        state,
        waiting.includes(state),
      ]);
  });

  test('has no move that none before it leaves over', () => {
    for (const state of states)
      for (const [index, { on }] of workStates[state].moves.entries()) {
        const earlier = workStates[state].moves.slice(0, index).filter((move) => move.on === on);
        expect([state, on, earlier.every(({ when }) => when !== undefined)]).toEqual([state, on, true]);
      }
  });

  test('reaches every state from the queue', () => {
    const reached = new Set<string>(['queued']);
    for (const state of reached) for (const { to } of workStates[state as 'queued'].moves) reached.add(to);
    expect([...reached].sort()).toEqual([...states].sort());
  });

  test('lets a person end whatever has not ended, and changes nothing that has', () => {
    for (const state of states) {
      const forced = advance({ ...queued, state }, 'stop', { ...given, isForced: true });
      expect(isFinal(state) ? forced : forced?.work.state).toBe(isFinal(state) ? undefined : 'stopped');
    }
    expect(finalStates).toEqual(finalWorkStates);
    expect(new Set(finalStates.map((state) => sessionStatus(state)))).toEqual(new Set(finalStatuses));
  });

  test('tells at the end why it was stopped, if whoever did so said it; the last word counts', () => {
    const stop = (work: Work, stopReason?: string, isForced = false) =>
      advance(work, 'stop', { ...given, isForced, stopReason })?.work ?? work;
    for (const state of states.filter((each) => !isFinal(each)))
      expect([state, stop({ ...queued, state }, 'said', true).reason]).toEqual([state, 'said']);
    const stopping = stop({ ...queued, state: 'active' }, 'said');
    expect(advance(stopping, 'exit', { ...given, exitCode: 1 })).toMatchObject({
      work: { state: 'stopped', reason: 'said' },
      announcements: [{ data: { status: 'stopped', reason: 'said', exit_code: 1 } }],
    });
    expect(stop(stopping, undefined, true).reason).toBe('said');
    expect(stop(stopping, 'said again', true).reason).toBe('said again');
    expect(stop({ ...queued, state: 'active', reason: 'worker_lost' }).reason).toBeNull();
  });

  test('tells what waits and what runs', () => {
    expect(waitingStates).toEqual(['queued', 'lost']);
    expect(runningStates).toEqual(['active', 'stopping']);
    expect(idleStates).toEqual(['queued', 'delivered', 'lost']);
  });

  test('fences the worker whenever the work is taken from it, and so does every new attempt', () => {
    for (const { from, move } of moves) {
      const { on, when, to, raisesEpoch, newAttempt } = move;
      const held = from === 'active' || from === 'stopping' || from === 'lost';
      const byWorker = on === 'attach' || on === 'exit' || when === 'byWorker';
      const waits = ['active', 'stopping', 'lost'].includes(to);
      const leads = [from, on, when, to];
      if (held && !byWorker && !waits) expect([...leads, raisesEpoch]).toEqual([...leads, true]);
      if (held && !isFinal(to) && !waits) expect([...leads, newAttempt]).toEqual([...leads, true]);
    }
  });

  test('announces a change of the status, and only that', () => {
    for (const { from, move } of moves) {
      const verdict = advance({ ...queued, state: from, ...workFor(move) }, move.on, factsFor(move));
      expect(verdict?.work.state).toBe(move.to);
      const told = verdict?.announcements.filter(({ type }) => type === 'session.updated') ?? [];
      const changes = sessionStatus(from) !== sessionStatus(move.to);
      expect([from, move.on, told.length]).toEqual([from, move.on, changes ? 1 : 0]);
    }
  });
});

function workFor({ when }: Move): Partial<Work> {
  if (when === 'lastDelivery') return { deliveries: terms.maxDeliveries };
  return when === 'lastAttempt' ? { attempt: terms.maxAttempts } : {};
}

/** Facts under which just this condition holds. */
function factsFor(move: Move): Facts & { readonly now: number } {
  const { when } = move;
  const facts = {
    ...given,
    ...(when === 'cleanExit' && { exitCode: 0 }),
    ...(when === 'byWorker' && { isWorker: true }),
    ...(when === 'byForce' && { isForced: true }),
    ...(when === 'online' && { isOnline: true }),
  };
  const holding = Object.entries<Condition>(conditions).filter(([, { holds }]) =>
    holds({ ...queued, ...workFor(move) }, facts),
  );
  expect(holding.map(([name]) => name)).toEqual(when === undefined ? [] : [when]);
  return facts;
}

test('a session whose environment is silent does not run', () => {
  expect(sessionStatus('active', false)).toBe('disconnected');
  expect(sessionStatus('queued', false)).toBe('queued');
});

test('a delivery lapses to the queue, the last one to the dead', () => {
  const delivered = judgeDelivery(queued, given)?.work;
  expect(delivered).toMatchObject({ state: 'delivered', deliveries: 1, deadline: 11_000 });
  if (!delivered) return;
  expect(judgeLapse(delivered, true, { now: 10_999, terms })).toBeUndefined();
  expect(judgeLapse(delivered, true, { now: 11_000, terms })?.work).toMatchObject({
    state: 'queued',
    deadline: null,
  });
  expect(judgeLapse({ ...delivered, deliveries: 5 }, true, { now: 11_000, terms })).toMatchObject({
    work: { state: 'dead', reason: 'undeliverable' },
    announcements: [{ type: 'session.updated', data: { status: 'failed', reason: 'undeliverable' } }],
  });
});

test('an answer that got lost is taken back once, and not after a later delivery', () => {
  const delivered: Work = { ...queued, state: 'delivered', deliveries: 2, deadline: 1 };
  expect(judgeReturn(delivered, 2, given)?.work).toMatchObject({ state: 'queued', deliveries: 1 });
  expect(judgeReturn(delivered, 1, given)).toBeUndefined();
  expect(judgeReturn({ ...delivered, state: 'active' }, 2, given)).toBeUndefined();
});

test('lost work begins anew: acknowledgement, stream and deliveries are those of the last attempt', () => {
  const lost: Work = { ...queued, state: 'lost', ackedBy: 'a', attached: true, deliveries: 4 };
  expect(judgeDelivery(lost, given)).toMatchObject({
    work: { state: 'delivered', attempt: 2, ackedBy: null, attached: false, deliveries: 1 },
    raisesEpoch: true,
  });
});

test('running work is lost, queued again, or given up', () => {
  const active: Work = { ...queued, state: 'active', deadline: 0, ackedBy: 'a' };
  expect(judgeLapse(active, false, given)).toMatchObject({ work: { state: 'lost' }, raisesEpoch: false });
  expect(judgeLapse(active, true, given)).toMatchObject({
    work: { state: 'queued', attempt: 2 },
    raisesEpoch: true,
  });
  expect(judgeLapse({ ...active, attempt: 3 }, true, given)).toMatchObject({
    work: { state: 'failed', reason: 'worker_lost' },
  });
});

test('an acknowledgement after the end tells whose work it was', () => {
  const done: Work = { ...queued, state: 'done', ackedBy: 'a' };
  expect(() => judgeAck(done, 'a', given)).toThrow(
    expect.objectContaining({
      code: 'ack_already_processed',
      details: { acked_by: 'a', yours: true, state: 'done' },
    }),
  );
});

test('a takeover makes the next epoch, but for the proven present worker', () => {
  expect(judgeTakeOver(queued, 0, null)).toBe(1);
  expect(judgeTakeOver(queued, 4, 4)).toBe(4);
  expect(judgeTakeOver(queued, 4, 3)).toBe(5);
  expect(() => judgeTakeOver({ ...queued, state: 'done' }, 4, 4)).toThrow(
    expect.objectContaining({ code: 'session_ended' }),
  );
});

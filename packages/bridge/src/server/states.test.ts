import { describe, expect, test } from 'vitest';
import { defaultBridgeConfig, workTerms } from './config.ts';
import type { Work } from './records.ts';
import { advance, isFinal, sessionStatus, workMoves, type WorkEvent } from './states.ts';
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
const states = Object.keys(workMoves) as (keyof typeof workMoves)[];
const moves = states.flatMap((from) =>
  Object.entries(workMoves[from]).map(([event, move]) => ({ from, event: event as WorkEvent, move })),
);

describe('the table of moves', () => {
  test('gives exactly the states that wait for a sign a deadline', () => {
    const waiting = ['delivered', 'active', 'stopping'];
    for (const { from, event, move } of moves)
      expect([from, event, move.deadline !== undefined]).toEqual([from, event, waiting.includes(move.to)]);
  });

  test('lets a person end whatever has not ended, and changes nothing that has', () => {
    for (const state of states) {
      const forced = advance({ ...queued, state }, 'force', given);
      expect(isFinal(state) ? forced : forced?.work.state).toBe(isFinal(state) ? undefined : 'stopped');
    }
    expect(states.filter(isFinal)).toEqual(['stopped', 'done', 'failed', 'dead']);
  });

  test('fences the worker whenever the work is taken from it', () => {
    for (const { from, event, move } of moves) {
      const held = from === 'active' || from === 'stopping' || from === 'lost';
      const byWorker = ['attach', 'finish', 'fail', 'confirm'].includes(event);
      const waits = ['active', 'stopping', 'lost'].includes(move.to);
      if (held && !byWorker && !waits) expect([from, event, move.raisesEpoch]).toEqual([from, event, true]);
    }
  });

  test('announces a change of the status, and only that', () => {
    for (const { from, event } of moves) {
      const before: Work = { ...queued, state: from };
      const verdict = advance(before, event, given);
      const changes = sessionStatus(from) !== sessionStatus(verdict?.work.state ?? from);
      const told = verdict?.announcements.filter(({ type }) => type === 'session.updated') ?? [];
      expect([from, event, told.length]).toEqual([from, event, changes ? 1 : 0]);
    }
  });
});

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

import { createIds, createLocalWakeups, ServiceError, silentLog } from '@sallyport/core';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { defaultBridgeConfig, workTerms } from './config.ts';
import type { Context } from './context.ts';
import type { BridgeStore, WorkerClaims } from './ports.ts';
import { createPresence } from './presence.ts';
import type { SessionHead } from './records.ts';
import type { SocketListener, StreamSocket } from './stream-socket.ts';
import { WorkerStreams } from './worker-streams.ts';

const head: SessionHead = {
  epoch: 1,
  lastSeq: 0,
  oldestSeq: 1,
  workerSeenAt: null,
  workState: 'active',
  workReason: null,
  environmentGone: false,
};

/** A stream over a store that has an empty log, and does as it is told otherwise. */
function openStream(store: {
  readonly appendEvents?: () => Promise<never>;
  readonly sessionHead?: () => Promise<SessionHead>;
  readonly renewWorkers?: () => Promise<void>;
}) {
  const { appendEvents, sessionHead = () => Promise.resolve(head) } = store;
  const { renewWorkers = () => Promise.resolve() } = store;
  const clock = new ManualClock();
  const claims: WorkerClaims = {
    sessionId: 'session_1',
    environmentId: 'env_1',
    workerId: 'worker',
    epoch: 1,
    grantId: 'grant',
    expiresAt: clock.now() + 3_600_000,
  };
  const acts = { appendEvents, renewWorkers } as unknown as BridgeStore['acts'];
  const events = () => Promise.resolve({ events: [], scannedTo: 0 });
  const context: Context = {
    store: { acts, reads: { sessionHead, events } as unknown as BridgeStore['reads'] },
    accounts: { emails: () => Promise.reject(new Error('nobody sent anything')) },
    clock,
    random: seededRandom(),
    ids: createIds(clock, seededRandom()),
    wakeups: createLocalWakeups(),
    config: defaultBridgeConfig,
    terms: workTerms(defaultBridgeConfig),
    presence: createPresence(acts, clock, defaultBridgeConfig),
    devices: {
      check: () => Promise.reject(new Error('nobody asks for one')),
      stands: () => Promise.resolve(true),
      changes: 0,
      watch: () => undefined,
      unwatch: () => undefined,
    },
    log: silentLog,
  };
  const frames: Record<string, unknown>[] = [];
  const closed = Promise.withResolvers<{ readonly code: number; readonly reason: string }>();
  let renewed = claims;
  let listener: SocketListener | undefined;
  const streams = new WorkerStreams(context, {
    mint: () => Promise.reject(new Error('nobody asks for one')),
    verify: () => Promise.resolve(renewed),
  });
  const socket: StreamSocket = {
    bufferedAmount: 0,
    bytesRead: 0,
    sendText(text, taken) {
      frames.push(JSON.parse(text) as Record<string, unknown>);
      taken();
    },
    ping: () => undefined,
    close: (code, reason) => closed.resolve({ code, reason }),
    terminate: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    listen: (its) => (listener = its),
  };
  const log = { stream: 1, lastSeq: 0, oldestSeq: 1, takenSeq: 0 };
  streams.add(claims, socket, { log, from: undefined, deviceSince: 0 });
  return {
    streams,
    clock,
    frames,
    closed: closed.promise,
    say: (frame: object) => listener?.message(JSON.stringify(frame)),
    isAlive: () => listener?.pong(),
    /** The next token that the worker shows is good until then. */
    renew: (expiresAt: number) => (renewed = { ...claims, expiresAt }),
    expiresAt: claims.expiresAt,
  };
}

test.each([
  ['refuses it', new ServiceError('stale_epoch', 'Another worker has it.')],
  ['is away', new Error('The store is away.')],
])(
  'a store that %s, and is away when it is asked why, ends the stream and nothing else',
  async (_, error) => {
    let isAway = false;
    const { say, closed } = openStream({
      appendEvents: () => {
        isAway = true;
        return Promise.reject(error);
      },
      sessionHead: () => (isAway ? Promise.reject(new Error('The store is away.')) : Promise.resolve(head)),
    });
    say({ id: 'evt_1', type: 'note', data: {} });
    expect(await closed).toEqual({ code: 1012, reason: 'store_unavailable' });
  },
);

test('a worker is told once that its token expires, until it has shown one that lasts longer', async () => {
  const { streams, clock, frames, say, isAlive, renew, expiresAt } = openStream({});
  const told = () => frames.filter(({ type }) => type === 'token_expiring').length;
  const pass = async (ms: number) => {
    await clock.advance(ms);
    isAlive();
    streams.tick();
  };
  await pass(3_400_000);
  expect(told()).toBe(1);
  say({ type: 'auth', token: 'the same once more' });
  await pass(1_000);
  expect(told()).toBe(1);
  renew(expiresAt + 3_600_000);
  say({ type: 'auth', token: 'a fresh one' });
  await pass(1_000);
  expect(told()).toBe(1);
  await pass(3_600_000);
  expect(told()).toBe(2);
});

test('signs of life are stored once a write of all is done, those that were on their way before, too', async () => {
  const stored = Promise.withResolvers<undefined>();
  const { streams, clock, isAlive } = openStream({ renewWorkers: () => stored.promise });
  await clock.advance(15_000);
  isAlive();
  void streams.writeRenewals('due');
  let isDone = false;
  const all = streams.writeRenewals('all').then(() => (isDone = true));
  await clock.advance(0);
  expect(isDone).toBe(false);
  stored.resolve(undefined);
  await all;
});

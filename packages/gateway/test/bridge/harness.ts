import { DatabaseSync } from 'node:sqlite';
import {
  createBridgeEngine,
  type BridgeConfig,
  type BridgeEngine,
  type Caller,
  type PollAnswer,
  type WorkerTokens,
} from '@sallyport/bridge/server';
import type { BridgeActs, BridgeReads, StoredEvent } from '@sallyport/bridge/storage';
import { createIds, createLocalWakeups, ServiceError, silentLog, type AccountEmails } from '@sallyport/core';
import type { CreateSessionRequest } from '@sallyport/core/contract';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { bridgeActs } from '../../src/store/embedded/bridge-acts.ts';
import { bridgeReads } from '../../src/store/embedded/bridge-reads.ts';
import { select } from '../../src/store/embedded/query.ts';
import type { Reader } from '../../src/store/embedded/reader.ts';
import { migrations } from './contents.ts';
import { someDevices } from './devices.ts';

export const owner: Caller = {
  accountId: 'ann',
  organizationId: 'org',
  isAdmin: false,
  workerKey: 'worker-1',
  grantId: 'grant-1',
};
export const place = { machine_name: 'laptop', directory: '/src' };

/** `ID@example.com` is everybody's address, but for those who are there no more. */
export const testEmails: AccountEmails = {
  emails: (ids) =>
    Promise.resolve(new Map(ids.filter((id) => id !== 'gone').map((id) => [id, `${id}@example.com`]))),
};

/** The engine on real SQLite statements, in memory and on this thread, with a clock that the test moves. */
export interface Harness {
  readonly engine: BridgeEngine;
  readonly clock: ManualClock;
  readonly db: DatabaseSync;
  readonly tokens: WorkerTokens;
  readonly acts: BridgeActs;
  readonly reads: BridgeReads;
  /** Registers the usual place. */
  readonly register: (caller?: Caller) => Promise<string>;
  /** Creates a session on the environment; gives its ids. */
  readonly session: (
    environmentId: string,
    request?: Partial<CreateSessionRequest>,
  ) => Promise<{ readonly id: string; readonly workId: string }>;
  /** Polls; gives the answer once there is one. */
  readonly hold: (
    environmentId: string,
    options?: { readonly blockMs?: number; readonly types?: readonly string[]; readonly capacity?: number },
    caller?: Caller,
  ) => Promise<PollAnswer>;
  /** Asks for work without waiting; gives the item's id. */
  readonly poll: (environmentId: string, caller?: Caller) => Promise<string | undefined>;
  readonly events: (sessionId: string) => Promise<readonly StoredEvent[]>;
  readonly workState: (workId: string) => unknown;
  readonly devices: ReturnType<typeof someDevices>;
  /** What was warned of. */
  readonly warnings: readonly object[];
  /** Another engine on the same database: what a restart leaves. */
  readonly restart: () => BridgeEngine;
}

export function openHarness(config: Partial<BridgeConfig> = {}): Harness {
  const clock = new ManualClock();
  const random = seededRandom();
  const db = new DatabaseSync(':memory:');
  for (const { sql } of migrations) db.exec(sql);
  const ids = createIds(clock, random);
  const acts = transactional(db, bridgeActs(db, ids));
  const reads = bridgeReads(readerOf(db));
  const tokens = plainTokens(clock);
  const warnings: object[] = [];
  const devices = someDevices();
  const start = () =>
    createBridgeEngine({
      store: { acts, reads },
      accounts: testEmails,
      clock,
      random,
      ids,
      wakeups: createLocalWakeups(),
      workerTokens: tokens,
      devices: devices.port,
      apiBaseUrl: 'http://127.0.0.1:1',
      config,
      log: { ...silentLog, warn: (fields) => void warnings.push(fields) },
    });
  const engine = start();
  const hold: Harness['hold'] = async (environmentId, options = {}, caller = owner) =>
    (await engine.bridge.poll(caller, { environmentId, ...options })).answer;

  return {
    engine,
    clock,
    db,
    warnings,
    devices,
    tokens,
    acts,
    reads,
    register: async (caller = owner) =>
      (await engine.bridge.register(caller, place, 'device')).environment_id,
    async session(environmentId, request = {}) {
      const created = await engine.sessions.create(owner, sessionRequest(environmentId, request));
      return { id: created.id, workId: created.work_id };
    },
    async poll(environmentId, caller = owner) {
      const { work } = await hold(environmentId, {}, caller);
      return work?.id;
    },
    hold,
    async events(sessionId) {
      return (await reads.events({ sessionId, after: 0, maxEvents: 10_000, maxBytes: 1e9 })).events;
    },
    workState: (workId) => db.prepare('SELECT state FROM work WHERE id = ?').get(workId)?.['state'],
    restart: start,
  };
}

export function sessionRequest(
  environmentId: string,
  request: Partial<CreateSessionRequest> = {},
): CreateSessionRequest {
  return {
    environment_id: environmentId,
    title: '',
    events: [],
    session_context: { sources: [] },
    tags: [],
    ...request,
  };
}

/** Each act in a transaction of its own: it holds or fails by itself, as in the writer. */
function transactional(db: DatabaseSync, acts: ReturnType<typeof bridgeActs>): BridgeActs {
  const wrapped = Object.entries(acts).map(([name, act]) => [
    name,
    (argument: never) =>
      new Promise((resolve) => {
        db.exec('BEGIN');
        try {
          const answer: unknown = act(argument);
          db.exec('COMMIT');
          resolve(answer);
        } catch (error) {
          db.exec('ROLLBACK');
          throw error;
        }
      }),
  ]);
  return Object.fromEntries(wrapped) as BridgeActs;
}

function readerOf(db: DatabaseSync): Reader {
  return { query: (sql) => select(db, sql), close: () => db.close() };
}

function plainTokens(clock: ManualClock): WorkerTokens {
  return {
    mint: (claims) => Promise.resolve(JSON.stringify({ ...claims, expiresAt: clock.now() + 3_600_000 })),
    verify(token) {
      const claims = JSON.parse(token) as Awaited<ReturnType<WorkerTokens['verify']>>;
      return claims.expiresAt > clock.now()
        ? Promise.resolve(claims)
        : Promise.reject(new ServiceError('invalid_token', 'The token has expired.'));
    },
  };
}

// The door for storage adapters: the ports, their records, and the judgements that an act calls inside its transaction.
// It is apart from the engine's, so that a writer thread loads no more than that.
export type {
  BridgeActs,
  ClaimedWork,
  CreateEnvironment,
  CreateSession,
  Idempotency,
  RegisterEnvironment,
  Renewal,
  Timing,
  Touched,
  WorkerAttached,
  WorkerProof,
} from './acts.ts';
export type { BridgeStore } from './ports.ts';
export type { BridgeReads, EventsPage, EventsRequest, PageRequest, Stop } from './reads.ts';
export type {
  Appended,
  Environment,
  EventDraft,
  Json,
  ListedEnvironment,
  Origin,
  RegisteredEnvironment,
  Seen,
  Sender,
  SentEvent,
  ListedSession,
  Session,
  SessionHead,
  StoredEvent,
  Work,
} from './records.ts';
export { judgeLiveSessions, judgeLogBytes, judgeSessionLogBytes, type Quota } from './quota.ts';
export { hasLeft } from './presence.ts';
export { foldCase } from './fold-case.ts';
export { mergeMetadata } from './metadata.ts';
export {
  judgeRegistration,
  registeredMetadata,
  registeredName,
  workerTypeOf,
  type RegistrationFacts,
} from './registration.ts';
export {
  judgeAck,
  judgeAppend,
  judgeAttach,
  judgeDelivery,
  judgeEpoch,
  judgeExit,
  judgeLapse,
  judgeOpen,
  judgeOverflow,
  judgeReconnect,
  judgeReturn,
  judgeStop,
  judgeTakeOver,
} from './work-judgements.ts';
export {
  conditions,
  finalStates,
  happenings,
  idleStates,
  isFinal,
  runningStates,
  sessionStatus,
  waitingStates,
  workStates,
  type Condition,
  type Facts,
  type Happening,
  type Move,
  type State,
} from './states.ts';
export { advance, type Announcement, type Circumstances, type Verdict } from './verdict.ts';

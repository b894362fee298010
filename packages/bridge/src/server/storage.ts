// The door for storage adapters: the ports, their records, and the judgements that an act calls inside its transaction.
// It is apart from the engine's, so that a writer thread loads no more than that.
export type {
  BridgeActs,
  BridgeReads,
  BridgeStore,
  ClaimedWork,
  CreateSession,
  EventsPage,
  EventsRequest,
  PageRequest,
  RegisterEnvironment,
  Renewal,
  Timing,
  Touched,
  WorkerAttached,
  WorkerProof,
} from './ports.ts';
export type {
  Appended,
  Environment,
  EventDraft,
  Json,
  ListedEnvironment,
  Origin,
  Session,
  SessionHead,
  StoredEvent,
  Work,
} from './records.ts';
export { judgeRegistration, type RegistrationFacts } from './registration.ts';
export {
  judgeAck,
  judgeAttach,
  judgeDelivery,
  judgeEpoch,
  judgeExit,
  judgeLapse,
  judgeReturn,
  judgeStop,
  judgeTakeOver,
} from './work-judgements.ts';
export {
  advance,
  isFinal,
  sessionStatus,
  workMoves,
  type Announcement,
  type Circumstances,
  type Move,
  type Verdict,
  type WorkEvent,
} from './states.ts';

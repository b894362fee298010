export { createBridgeEngine, type BridgeEngine, type BridgeEngineOptions } from './engine.ts';
export { defaultBridgeConfig, workTerms, type BridgeConfig, type WorkTerms } from './config.ts';
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
  SocketListener,
  StreamSocket,
  Timing,
  Touched,
  TrustedDevices,
  WorkerAttached,
  WorkerClaims,
  WorkerProof,
  WorkerTokens,
} from './ports.ts';
export type {
  Appended,
  Caller,
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
export type { Page } from './cursor.ts';
export type { FollowerItem } from './follow.ts';
export type { Handshake, WorkerCredentials } from './handshake.ts';
export type { Registry } from './registry.ts';
export type { Sessions } from './sessions.ts';
export type { PollAnswer, WorkDesk, WorkItem, WorkReference, WorkStatus } from './work.ts';
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
export { sessionTopic, workTopic } from './topics.ts';
export type { ServiceFrame, WorkerEvent, WorkerFrame } from '../protocol/frames.ts';
export { resumeFrom, type ResumeFrom } from '../protocol/resume.ts';

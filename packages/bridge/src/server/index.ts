export { createBridgeAccountData } from './account-data.ts';
export { createBridgeOrganizationData } from './organization-data.ts';
export { createBridgeEngine, type BridgeEngine, type BridgeEngineOptions } from './engine.ts';
export { defaultBridgeConfig, workTerms, type BridgeConfig, type WorkTerms } from './config.ts';
export type { BridgeStore, TrustedDevices, WorkerClaims, WorkerTokens } from './ports.ts';
export type { SocketListener, StreamSocket } from './stream-socket.ts';
export type { Caller } from './records.ts';
export type { Page } from '@sallyport/core';
export type { FollowerItem } from './follow.ts';
export type { Environments } from './environments.ts';
export type { Handshake, WorkerCredentials } from './handshake.ts';
export type { Registry } from './registry.ts';
export type { Sessions } from './sessions.ts';
export type { Poll, PollAnswer, WorkItem } from './poll.ts';
export type { WorkDesk, WorkReference, WorkStatus } from './work.ts';
export {
  closeCodes,
  maxFrameBytes,
  type ServiceFrame,
  type WorkerEvent,
  type WorkerFrame,
} from '../protocol/frames.ts';
export { resumeFrom, type ResumeFrom } from '../protocol/resume.ts';

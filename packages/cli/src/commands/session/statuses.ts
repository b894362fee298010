import type { SessionStatus } from '@sallyport/core/contract';

/** What a session may be, for the help and completion, which do not load the contract. */
export const sessionStatuses = [
  'queued',
  'running',
  'disconnected',
  'stopping',
  'stopped',
  'done',
  'failed',
] as const satisfies readonly SessionStatus[];

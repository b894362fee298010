/** What a session may be. */
export const sessionStatuses = [
  'queued',
  'running',
  'disconnected',
  'stopping',
  'stopped',
  'done',
  'failed',
] as const;

import type { Session } from '@sallyport/core/contract';

/** A session as the service shows it. */
export const testSession = (shown: Partial<Session> = {}): Session => ({
  id: 'session_1',
  title: '',
  environment_id: 'env_1',
  work_id: 'work_1',
  status: 'done',
  tags: [],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  ...shown,
});

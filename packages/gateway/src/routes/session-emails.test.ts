import type { Session } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { withEmails } from './session-emails.ts';

const session = (id: string, account?: string): Session => ({
  id,
  title: '',
  environment_id: 'env_1',
  work_id: `work_${id}`,
  status: 'done',
  tags: [],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  ...(account !== undefined && { account: { id: account } }),
});

test('each account is looked up once; one that is there no more has no address, and a session of nobody stays as it is', async () => {
  const asked: string[] = [];
  const accounts = {
    get: (id: string) => {
      asked.push(id);
      const account = { id, email: 'ann@example.com', hasPassword: true, createdAt: 1 };
      return Promise.resolve(id === 'ann' ? account : undefined);
    },
  };
  const sessions = [session('1', 'ann'), session('2', 'gone'), session('3', 'ann'), session('4')];
  const shown = await withEmails(sessions, accounts);
  expect(shown.map(({ account }) => account)).toEqual([
    { id: 'ann', email: 'ann@example.com' },
    { id: 'gone', email: null },
    { id: 'ann', email: 'ann@example.com' },
    undefined,
  ]);
  expect(asked).toEqual(['ann', 'gone']);
});

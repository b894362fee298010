import type { OrganizationEnvironment } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { CommandError } from '../io/exit.ts';
import { onlyOnline } from './environments.ts';

const environment = (id: string, status: OrganizationEnvironment['status']): OrganizationEnvironment => ({
  environment_id: id,
  machine_name: 'm',
  directory: '/d',
  metadata: {},
  worker_type: 'cowork',
  status,
  last_seen_at: '2026-01-01T00:00:00.000Z',
  active_sessions: 0,
});

function refusal(environments: readonly OrganizationEnvironment[]): CommandError {
  try {
    onlyOnline(environments);
  } catch (error) {
    if (error instanceof CommandError) return error;
  }
  throw new Error('nothing was refused');
}

test('the only one online is taken', () => {
  expect(onlyOnline([environment('env_1', 'offline'), environment('env_2', 'online')]).environment_id).toBe(
    'env_2',
  );
});

test('none online is not found, and says how to start one', () => {
  expect(refusal([])).toMatchObject({
    exitCode: 4,
    nextStep: expect.stringContaining('bridge run') as string,
  });
  expect(() => onlyOnline([environment('env_1', 'disconnected')])).toThrow(/1 known/);
});

test('several are listed, for the person to choose', () => {
  const { exitCode, message } = refusal([environment('env_1', 'online'), environment('env_2', 'online')]);
  expect(exitCode).toBe(2);
  expect(message).toMatch(/env_1.*\n.*env_2/);
});

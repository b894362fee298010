import { toTimestamp } from '@sallyport/core';
import type { OrganizationEnvironment } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { CommandError } from '../io/exit.ts';
import { freest, onlyOnline } from './environments.ts';
import { environmentChoice } from './option-values.ts';

const now = Date.UTC(2026, 0, 1);

const environment = (
  id: string,
  status: OrganizationEnvironment['status'],
  minutesAgo = 0,
): OrganizationEnvironment => ({
  environment_id: id,
  machine_name: 'm',
  directory: '/d',
  metadata: {},
  worker_type: 'cowork',
  status,
  last_seen_at: toTimestamp(now - minutesAgo * 60_000),
  active_sessions: 0,
});

function refusal(environments: readonly OrganizationEnvironment[]): CommandError {
  try {
    onlyOnline(environments, now);
  } catch (error) {
    if (error instanceof CommandError) return error;
  }
  throw new Error('nothing was refused');
}

test('the only one online is taken', () => {
  const environments = [
    environment('env_1', 'offline'),
    environment('env_2', 'online'),
    environment('env_3', 'disconnected'),
  ];
  expect(onlyOnline(environments, now).environment_id).toBe('env_2');
});

test('none at all is not found, and says how to start one', () => {
  expect(refusal([])).toMatchObject({
    exitCode: 4,
    message: 'No environment is online.',
    nextStep: expect.stringContaining('sallyport bridge run') as string,
  });
});

test('none online names those known, the last seen first', () => {
  const { exitCode, message, nextStep } = refusal([
    environment('env_1', 'offline', 90),
    environment('env_2', 'disconnected', 2),
  ]);
  expect(exitCode).toBe(4);
  expect(message).toMatch(/^No environment is online.*\nID.*\nenv_2.* 2 min ago\nenv_1.* 1 h ago$/);
  expect(nextStep).toContain('sallyport bridge run');
});

test('of many that are known a few are named', () => {
  const many = Array.from({ length: 8 }, (_, index) => environment(`env_${index}`, 'offline', index));
  expect(refusal(many).message).toMatch(/env_4.*\n… and 3 more$/);
});

test('several are listed, for the person to choose', () => {
  const { exitCode, message } = refusal([environment('env_1', 'online'), environment('env_2', 'online')]);
  expect(exitCode).toBe(2);
  expect(message).toMatch(/env_1.*\n.*env_2/);
});

test('by a tag the one online is taken that has the fewest sessions', () => {
  const tagged = (
    id: string,
    status: OrganizationEnvironment['status'],
    sessions: number,
    tags: unknown,
  ) => ({
    ...environment(id, status),
    active_sessions: sessions,
    metadata: { tags },
  });
  const environments = [
    tagged('env_1', 'offline', 0, ['linux']),
    tagged('env_2', 'online', 2, ['linux', 'gpu']),
    tagged('env_3', 'online', 1, ['linux']),
    tagged('env_4', 'online', 0, 'linux'),
    environment('env_5', 'online'),
  ];
  expect(freest(environments, 'linux').environment_id).toBe('env_3');
  expect(() => freest(environments, 'mac')).toThrow(
    'No environment with the tag "mac" is online. Online are those with: gpu, linux.',
  );
  expect(() => freest([], 'mac')).toThrow('No environment with the tag "mac" is online.');
});

test.each(['tag:', 'tag: '])('%j names no environment', (given) => {
  expect(() => environmentChoice(given)).toThrow('tag:NAME needs a name');
  expect(environmentChoice('tag:linux')).toBe('tag:linux');
});

import { toTimestamp } from '@sallyport/core';
import type { OrganizationEnvironment, SessionEvent } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { WaitingNotice } from './waiting.ts';

const start = "sallyport bridge run --env env_1 --exec 'CMD'";
const startAgain = "sallyport bridge run --env env_1 --name laptop --exec 'CMD'";

function waitFor(change: Partial<OrganizationEnvironment> | Error | 'unlisted' = {}, options = {}) {
  const bench = testContext(options);
  const environment: OrganizationEnvironment = {
    environment_id: 'env_1',
    machine_name: 'laptop',
    directory: '/repo',
    metadata: {},
    worker_type: 'cowork',
    status: 'offline',
    last_seen_at: toTimestamp(bench.clock.now() - 120_000),
    active_sessions: 0,
    ...(typeof change === 'string' || change instanceof Error ? {} : change),
  };
  const notice = new WaitingNotice(bench.context, 'env_1', async () => {
    if (change instanceof Error) throw change;
    return change === 'unlisted' ? undefined : environment;
  });
  return { ...bench, notice };
}

const updated = (status: string): SessionEvent => ({
  id: 'evt_1',
  seq: 2,
  type: 'session.updated',
  session_id: 's',
  created_at: 'now',
  data: { status },
});

test('after three seconds it says who is waited for, and again at growing intervals', async () => {
  const { clock, text } = waitFor();
  await clock.advance(2_999);
  expect(text().stderr).toBe('');
  await clock.advance(1);
  expect(text().stderr).toBe(
    `waiting for env_1 (laptop, /repo); last seen 2 min ago. Start its bridge there: ${startAgain}\n`,
  );
  await clock.advance(9_999);
  expect(text().stderr.split('\n')).toHaveLength(2);
  await clock.advance(1 + 30_000 + 60_000 + 60_000);
  expect(text().stderr.trim().split('\n')).toHaveLength(5);
  expect(text().stderr).toMatch(/last seen 4 min ago\. .*\n$/);
  expect(text().stdout).toBe('');
});

test('a bridge that is busy is online', async () => {
  const { clock, text } = waitFor({ status: 'online', active_sessions: 4 });
  await clock.advance(3_000);
  expect(text().stderr).toBe('waiting for env_1 (laptop, /repo); online, 4 sessions running\n');
});

test('without an answer the environment is named all the same', async () => {
  const { clock, text } = waitFor(new Error('unreachable'));
  await clock.advance(3_000);
  expect(text().stderr).toBe('waiting for env_1\n');
});

test('nothing is said once the work is taken, but again when it was given back', async () => {
  const { clock, text, notice } = waitFor();
  notice.observe(updated('running'));
  await clock.advance(100_000);
  expect(text().stderr).toBe('');
  notice.observe(updated('queued'));
  await clock.advance(3_000);
  expect(text().stderr).toMatch(/^waiting for env_1.*\n$/);
  notice.cancel();
  expect(clock.timers).toBe(0);
});

test('an environment that never had a bridge is said to have none', async () => {
  const { clock, text } = waitFor('unlisted');
  await clock.advance(3_000);
  expect(text().stderr).toBe(
    `waiting for env_1, which has no bridge yet. Start one on its machine: ${start}\n`,
  );
});

test('with --json it is said as well, on stderr: nothing else would tell why nothing comes', async () => {
  const { clock, text } = waitFor({}, { json: true });
  await clock.advance(3_000);
  expect(text()).toEqual({ stdout: '', stderr: expect.stringContaining('last seen 2 min ago') as string });
});

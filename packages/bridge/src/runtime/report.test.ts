import { expect, test } from 'vitest';
import { outageReports, toReport } from './report.ts';

test('of a session it is told that it began and how it ended, by the names that telemetry samples and asks by', () => {
  const session = { sessionId: 'session_1', workId: 'work_1' };
  expect(toReport({ type: 'session.started', ...session, pid: 1 })).toEqual({
    name: 'session.started',
    attributes: { 'session.id': 'session_1' },
  });
  const ended = { type: 'session.ended', ...session, reason: 'exited' } as const;
  expect(toReport({ ...ended, exitCode: 3, signal: null })).toEqual({
    name: 'session.ended',
    severity: 'error',
    attributes: { 'session.id': 'session_1', reason: 'exited', 'process.exit.code': 3 },
  });
  expect(toReport({ ...ended, exitCode: null, signal: 'SIGKILL' })?.attributes).toEqual({
    'session.id': 'session_1',
    reason: 'exited',
  });
});

test('of a failure its kind is told, never its words; of what a session says nothing', () => {
  const error = new TypeError('the secret of /home/ann');
  const failures = ['offline', 'login_required', 'refused'] as const;
  for (const type of failures)
    expect(toReport({ type, error, retryInMs: 1 })).toEqual({
      name: `bridge.${type}`,
      severity: 'error',
      attributes: { 'error.type': 'TypeError' },
    });
  const said = {
    type: 'session.event',
    sessionId: 'session_1',
    name: 'note',
    data: { text: 'secret' },
  } as const;
  expect(toReport(said)).toBeUndefined();
});

test('of an outage each kind of trouble is told once; the next outage is told again', () => {
  const reportOf = outageReports();
  const error = new Error('no answer');
  const names = (['offline', 'offline', 'refused', 'offline', 'polling', 'offline'] as const).map((type) =>
    type === 'polling'
      ? reportOf({ type, environmentId: 'env_1' })
      : reportOf({ type, error, retryInMs: 1 })?.name,
  );
  expect(names).toEqual([
    'bridge.offline',
    undefined,
    'bridge.refused',
    undefined,
    undefined,
    'bridge.offline',
  ]);
});

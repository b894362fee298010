import { expect, test } from 'vitest';
import { toReport } from './report.ts';

test('a session has the attribute by which telemetry is sampled and searched', () => {
  const session = { sessionId: 'session_1', workId: 'work_1' } as const;
  expect(toReport({ type: 'session.started', ...session, pid: 7 })?.attributes).toEqual({
    'session.id': 'session_1',
  });
  const ended = { exitCode: 3, signal: null, reason: 'exited' } as const;
  expect(toReport({ type: 'session.ended', ...session, ...ended })).toEqual({
    name: 'session.ended',
    severity: 'error',
    attributes: { 'session.id': 'session_1', reason: 'exited', exit_code: 3 },
  });
});

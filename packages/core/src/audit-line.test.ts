import { expect, test } from 'vitest';
import { auditLine } from './audit-line.ts';

const entry = {
  id: '1',
  at: '2026-01-01T00:00:00.000Z',
  action: 'membership.set',
  outcome: 'done',
  actor: { type: 'account', id: 'a1', email: 'ann@example.com' },
  account: { id: 'b2', email: 'bob@example.com' },
  organization_id: null,
  subject: null,
  details: {},
  address: '10.0.0.7',
  request_id: null,
} as const;

test.each([
  [{ role: 'admin' }, 'role admin  '],
  [{ client_id: 'c1', grant: 'device_code' }, 'grant device_code  '],
  [{ name: 'a\u001B[2Jb', capabilities: ['chat', 'code'] }, 'name ab  capabilities chat, code  '],
  [{ name: null, rate_limit_tier: '', sessions: 2 }, 'sessions 2  '],
  [{ until: '2026-01-01T00:10:00.000Z' }, 'until 2026-01-01T00:10:00.000Z  '],
  [{}, ''],
])('an entry says what was set, and no id twice: %j', (details, shown) => {
  expect(auditLine({ ...entry, details })).toBe(
    `2026-01-01T00:00:00.000Z  membership.set  by ann@example.com  of bob@example.com  ${shown}from 10.0.0.7`,
  );
});

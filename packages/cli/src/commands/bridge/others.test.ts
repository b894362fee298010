import { undiciTransport } from '@sallyport/core/client';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';
import { tellOfOthers } from './others.ts';

const line =
  'Other members of the organization may run sessions here, too, as this account of the machine.\n';
const people = 'GET /api/admin/people';
const person = (role: string) => ({
  id: role,
  email: `${role}@example.com`,
  role,
  has_password: true,
  created_at: '2026-01-01T00:00:00.000Z',
});

const transport = undiciTransport();
afterAll(() => transport.close());
let service: Service;
let answers: Record<string, Answer>;
beforeEach(async () => void (service = await startService((answers = {}))));
afterEach(() => service.close());

async function told({ json = false, signal = new AbortController().signal } = {}): Promise<string> {
  const { context, text } = testContext({ json });
  const clientOptions = {
    baseUrl: service.baseUrl,
    transport,
    tokens: { token: () => Promise.resolve('secret') },
  };
  await tellOfOthers(context, { clientOptions }, signal);
  expect(text().stdout).toBe('');
  return text().stderr;
}

test.each([
  ['alone', ['admin'], ''],
  ['with people who only read', ['admin', 'viewer', 'viewer'], ''],
  ['with another member', ['admin', 'viewer', 'member'], line],
])('an admin %s is told whether others may run sessions', async (_, roles, expected) => {
  answers[people] = { body: roles.map(person) };
  expect(await told()).toBe(expected);
});

test('whoever may not see the others is not alone', async () => {
  answers[people] = { status: 403, body: { error: 'forbidden', error_description: 'No.' } };
  expect(await told()).toBe(line);
});

test.each([
  ['does not know the question', { status: 404, body: { error: 'not_found' } }],
  ['answers with something else', { body: 'hello' }],
  ['refuses the scope', { status: 403, body: { error: 'insufficient_scope' } }],
])('of a service that %s nothing is said', async (_, answer) => {
  answers[people] = answer;
  expect(await told()).toBe('');
});

test('nothing is said nor asked for whoever reads JSON, and nothing once the bridge has ended', async () => {
  answers[people] = { body: ['admin', 'member'].map(person) };
  expect(await told({ json: true })).toBe('');
  expect(service.seen).toEqual([]);
  expect(await told({ signal: AbortSignal.abort() })).toBe('');
});

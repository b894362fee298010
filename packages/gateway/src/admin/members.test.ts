import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { adminCommand, type Outcome } from '../../test/admin/command.ts';

// Each command opens the store anew.
vi.setConfig({ testTimeout: 60_000 });

let directory: string;
// A space: what the commands name has to be quoted.
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'sallyport members-'))));
afterAll(() => rmSync(directory, { recursive: true }));

/** What an admin command prints, or the exit code and the message that it ends with. */
async function admin(...args: string[]): Promise<{ printed: unknown; failed?: Outcome['failed'] }> {
  const { stdout, failed } = await adminCommand(directory, ...args);
  return failed ? { printed: stdout, failed } : { printed: JSON.parse(stdout) as unknown };
}

async function record(...args: string[]): Promise<Record<string, unknown>> {
  const { printed, failed } = await admin(...args);
  expect(failed).toBe(undefined);
  return printed as Record<string, unknown>;
}

const newOrganization = async (name: string) => String((await record('org', 'add', name))['id']);

test.each([
  [['user', 'add', 'notanemail'], 'This is not an e-mail address.'],
  [['client', 'add', '--name', 'x', '--redirect-uri', 'nowhere'], 'A redirect URI must be https'],
  [
    ['client', 'add', '--name', 'x', '--redirect-uri', 'https://a.example/', '--scope', 'all'],
    'The scopes are',
  ],
])('%j is wrong usage', async (args, message) => {
  expect((await admin(...args)).failed).toEqual([2, expect.stringContaining(message)]);
});

describe('admin org', () => {
  test('set changes what is given and keeps the rest; list shows it', async () => {
    const id = await newOrganization('Changed');
    const changed = await record('org', 'set', id, '--type', 'agent_pro', '--tier', 'high');
    expect(changed).toMatchObject({
      id,
      organization_type: 'agent_pro',
      rate_limit_tier: 'high',
      capabilities: ['agent_code'],
    });
    const again = await record('org', 'set', id.toUpperCase(), '--capability', 'agent_code', 'chat', 'chat');
    expect(again).toEqual({ ...changed, capabilities: ['agent_code', 'chat'] });
    expect(await record('org', 'list')).toContainEqual(again);
    const wary = await record('org', 'set', id, '--zero-data-retention');
    expect(wary).toEqual({ ...again, zero_data_retention: true });
    expect(await record('org', 'set', id, '--tier', 'high')).toEqual(wary);
    expect(await record('org', 'set', id, '--no-zero-data-retention')).toEqual(again);
  });

  test('says what is wrong, and what to do', async () => {
    expect((await admin('org', 'add', 'a\u202eb')).failed?.[1]).toMatch(/needs a name that can be seen/);
    const id = await newOrganization('Refused');
    expect((await admin('org', 'set', id)).failed).toEqual([2, expect.stringContaining('--tier')]);
    expect((await admin('org', 'set', id, '--type', 'club')).failed).toEqual([
      2,
      expect.stringContaining('agent_team'),
    ]);
    expect((await admin('org', 'set', id, '--tier', 'a b')).failed?.[1]).toMatch(/^A tier is a word/);
    expect((await admin('org', 'set', 'none', '--tier', 'x')).failed).toEqual([
      1,
      `There is no organization with the id or the name none: \`sallyport-gateway admin org list --data-dir '${directory}'\` shows those that there are.`,
    ]);
  });

  test('an organization goes by its name where an id does, unless two are called so', async () => {
    const id = await newOrganization('Named');
    const args = ['carl@example.com', '--org', 'named'];
    const member = { memberships: [{ organization: { id, name: 'Named' } }] };
    expect(await record('org', 'set', 'Named', '--tier', 'high')).toMatchObject({
      id,
      rate_limit_tier: 'high',
    });
    expect(await record('org', 'settings', 'set', 'named', 'model', '1')).toEqual({ settings: { model: 1 } });
    await record('user', 'add', ...args);
    expect(await record('user', 'role', 'carl@example.com', 'viewer', '--org', 'Named')).toMatchObject(
      member,
    );
    expect(await record('user', 'list', '--org', 'named')).toMatchObject([member]);
    expect(await record('user', 'remove', ...args)).toMatchObject({ left_organization: id });
    const twin = await newOrganization('Named');
    expect((await admin('user', 'add', 'dora@example.com', '--org', 'Named')).failed).toEqual([
      2,
      `Several organizations are called Named: name one by its id, of ${id}, ${twin}.`,
    ]);
    expect((await admin('user', 'add', 'dora@example.com', '--org', 'nope')).failed).toEqual([
      1,
      expect.stringContaining('There is no organization with the id or the name nope'),
    ]);
    await record('user', 'remove', 'carl@example.com');
  });

  test('settings are set, replaced, listed and unset', async () => {
    const id = await newOrganization('Settings');
    const settings = (...args: string[]) => record('org', 'settings', ...args);
    expect(await settings('list', id)).toEqual({ settings: {} });
    await settings('set', id, 'model', '"large"');
    await settings('set', id, '__proto__', '{"a":[null]}');
    const both = JSON.parse('{"settings":{"__proto__":{"a":[null]},"model":false}}') as object;
    expect(await settings('set', id, 'model', 'false')).toEqual(both);
    expect(await settings('list', id)).toEqual(both);
    await settings('unset', id, '__proto__');
    expect(await settings('unset', id, 'model')).toEqual({ settings: {} });
    expect((await admin('org', 'settings', 'unset', id, 'model')).failed).toEqual([
      1,
      expect.stringContaining(`settings list ${id}`),
    ]);
    expect((await admin('org', 'settings', 'set', id, 'model', 'large')).failed).toEqual([
      2,
      expect.stringContaining('It must be JSON'),
    ]);
    expect((await admin('org', 'settings', 'set', 'none', 'model', '1')).failed?.[0]).toBe(1);
    expect((await admin('org', 'settings', 'set', id, '', '1')).failed?.[1]).toMatch(/1 to 128 characters/);
    const large = JSON.stringify('x'.repeat(64 * 1024));
    expect((await admin('org', 'settings', 'set', id, 'a', large)).failed?.[1]).toMatch(
      /at most 65536 bytes/,
    );
  });
});

describe('admin user', () => {
  test('role changes a role, and makes a member where there was none', async () => {
    const org = await newOrganization('Roles');
    await record('user', 'add', 'ann@example.com');
    const member = { email: 'ann@example.com', memberships: [{ role: 'viewer' }] };
    expect(await record('user', 'role', 'ann@example.com', 'viewer')).toMatchObject(member);
    const both = await record('user', 'role', 'ann@example.com', 'admin', '--org', org);
    expect(both['memberships']).toMatchObject([
      { role: 'viewer', organization: { name: 'Default' } },
      { role: 'admin', organization: { id: org } },
    ]);
    expect(await record('user', 'list', '--org', org)).toEqual([both]);
    expect(await record('user', 'list')).toMatchObject([{ email: 'owner@localhost' }, both]);
    expect((await admin('user', 'role', 'ann@example.com', 'member')).failed).toEqual([
      2,
      `ann@example.com is a member of several organizations: name one with --org; \`sallyport-gateway admin org list --data-dir '${directory}'\` shows them.`,
    ]);
    expect((await admin('user', 'role', 'ann@example.com', 'king')).failed?.[0]).toBe(2);
  });

  test('an account that is there is told of, and how it becomes a member', async () => {
    await record('user', 'add', 'twice@example.com');
    const again = await admin('user', 'add', 'twice@example.com', '--role', 'viewer');
    expect(again.failed).toEqual([
      1,
      expect.stringContaining('admin user role twice@example.com viewer --org ORG'),
    ]);
    await newOrganization('Two Words');
    const there = await admin('user', 'add', 'twice@example.com', '--org', 'two words');
    expect(there.failed?.[1]).toContain(
      "`sallyport-gateway admin user role twice@example.com member --org 'two words' --data-dir ",
    );
    await record('user', 'remove', 'twice@example.com');
  });

  test('the last admin of an organization stays', async () => {
    const last = [
      1,
      expect.stringMatching(
        /make another account an admin of it first\. `.* user role EMAIL admin --org \S+ --data-dir/,
      ),
    ];
    expect((await admin('user', 'role', 'owner@localhost', 'member')).failed).toEqual(last);
    expect((await admin('user', 'remove', 'owner@localhost')).failed).toEqual(last);
    const [{ id: org } = { id: '' }] = (await admin('org', 'list')).printed as { id: string }[];
    expect((await admin('user', 'remove', 'owner@localhost', '--org', org)).failed).toEqual(last);
    await record('user', 'add', 'second@example.com', '--role', 'admin');
    await record('user', 'role', 'owner@localhost', 'member');
    await record('user', 'role', 'owner@localhost', 'admin');
    await record('user', 'remove', 'second@example.com');
  });

  test('remove ends a membership, or the account', async () => {
    const org = await newOrganization('Left');
    const added = await record('user', 'add', 'bob@example.com', '--org', org);
    expect(await record('user', 'remove', 'bob@example.com', '--org', org)).toEqual({
      id: added['id'],
      email: 'bob@example.com',
      left_organization: org,
    });
    expect((await admin('user', 'remove', 'bob@example.com', '--org', org)).failed?.[1]).toMatch(
      /not a member/,
    );
    expect(await record('user', 'remove', 'bob@example.com')).toMatchObject({ deleted: true });
    expect((await admin('user', 'remove', 'bob@example.com')).failed).toEqual([
      1,
      expect.stringContaining('There is no account bob@example.com'),
    ]);
  });
});

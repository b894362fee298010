import { ServiceError } from '@sallyport/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { commandsOn } from '../../src/admin/holding.ts';
import { codeRequest, verifier } from '../oauth/open-server.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand } from './command.ts';

const browser = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Ann in two organizations and Bob in the second, each with one of everything in it; gives their secrets. */
function fill(dataDir: string): Promise<readonly string[]> {
  return withAuthorizationServer(
    { dataDir },
    async ({ accounts, organizations, members, apiKeys, trustedDevices, sessions, authorization, token }) => {
      const { id: team } = await organizations.add({ name: 'Team' });
      const ann = await accounts.add({ email: 'ann@example.com' });
      const bob = await accounts.add({ email: 'bob@example.com', organizationId: team });
      const [home] = await organizations.of(ann.id);
      await members.setRole(ann.id, team, 'member');
      const secrets: string[] = [];
      for (const [{ id: accountId }, organizationId] of [
        [ann, home?.organization.id ?? ''],
        [ann, team],
        [bob, team],
      ] as const) {
        const owner = { accountId, organizationId };
        secrets.push(
          await apiKeys.create({ ...owner, scopes: ['vendor_api'], isApiKey: false }, { name: 'build' }),
        );
        secrets.push(await trustedDevices.trust(owner, 'laptop'));
        const { sessionKey, ...signedIn } = await sessions.issue(accountId);
        const request = codeRequest(organizationId);
        const { redirect_uri: location } = await authorization.authorize(signedIn, organizationId, request);
        const { client_id, redirect_uri } = request;
        const code = new URL(location).searchParams.get('code') ?? '';
        const grant = {
          grant_type: 'authorization_code',
          client_id,
          redirect_uri,
          code,
          code_verifier: verifier,
        };
        const tokens = await token(grant, '192.0.2.1');
        secrets.push(sessionKey, tokens.access_token, tokens.refresh_token ?? '');
      }
      const link = new URL((await accounts.setupLink(bob.id)).url).searchParams.get('token') ?? '';
      const { sessionKey } = await accounts.setUp(link, 'correct horse battery', {
        address: '192.0.2.7',
        userAgent: browser,
      });
      return [...secrets, link, sessionKey];
    },
  );
}

type Held = readonly {
  readonly account: { readonly email: string };
  readonly organization?: { readonly name: string };
}[];

test('what people may call with is listed for all organizations, for one, or for one person; no secret is', async () => {
  const dataDir = scratchDirectory();
  await adminCommand(dataDir, 'user', 'list');
  const secrets = await fill(dataDir);
  const list = async (noun: string, ...args: string[]) => {
    const { stdout, failed } = await adminCommand(dataDir, noun, 'list', ...args);
    expect(failed).toBe(undefined);
    for (const secret of secrets) expect(stdout).not.toContain(secret);
    return stdout;
  };
  const whose = async (noun: string, ...args: string[]) =>
    (JSON.parse(await list(noun, ...args)) as Held)
      .map(({ account, organization }) => [account.email, organization?.name].join(' ').trim())
      .sort();
  const [annHome, annTeam, bobTeam] = [
    'ann@example.com Default',
    'ann@example.com Team',
    'bob@example.com Team',
  ];
  for (const noun of ['key', 'device', 'login'])
    expect(await whose(noun)).toEqual([annHome, annTeam, bobTeam]);
  expect(await whose('key', '--org', 'team')).toEqual([annTeam, bobTeam]);
  expect(await whose('key', '--user', 'ann@example.com')).toEqual([annHome, annTeam]);
  expect(await whose('key', '--org', 'Default', '--user', 'bob@example.com')).toEqual([]);
  expect(await whose('sign-in')).toEqual(['ann@example.com', 'ann@example.com', 'bob@example.com']);
  expect(await whose('sign-in', '--org', 'Default')).toEqual(['ann@example.com', 'ann@example.com']);
  expect(await whose('sign-in', '--user', 'bob@example.com')).toEqual(['bob@example.com']);
  expect(JSON.parse(await list('client'))).toMatchObject([
    { client_name: 'Sallyport CLI' },
    { client_name: 'Sallyport gateway' },
  ]);

  const before = process.stdout.isTTY;
  process.stdout.isTTY = true;
  onTestFinished(() => void (process.stdout.isTTY = before));
  const day = String.raw`\d{4}-\d\d-\d\d`;
  const row = (...cells: string[]) => new RegExp(`^[\\w-]{36} +${cells.join(' +')}$`, 'm');
  expect(await list('key')).toMatch(
    row('ann@example.com', 'Default', 'build', day, 'never', 'never', 'vendor_api'),
  );
  expect(await list('device')).toMatch(row('ann@example.com', 'Team', 'laptop', day, 'never'));
  expect(await list('login')).toMatch(
    row('bob@example.com', 'Team', 'Sallyport CLI', '\\S+', day, 'never', day),
  );
  expect(await list('sign-in')).toMatch(
    row('bob@example.com', 'Firefox on Windows', '192.0.2.7', day, 'never', day),
  );
  expect(await list('client')).toMatch(row('Sallyport CLI', 'openid .*', 'http.*'));
  for (const noun of ['key', 'device', 'login', 'sign-in'])
    expect(await list(noun, '--user', 'owner@localhost')).toMatch(/^(There|Nobody) is .*\.\n$/);
  const [{ id } = { id: '' }] = JSON.parse(await list('key', '--user', 'bob@example.com', '--json')) as {
    id: string;
  }[];
  expect(await adminCommand(dataDir, 'key', 'revoke', id)).toEqual({
    stdout: `The API key ${id} of bob@example.com in Team is revoked.\n`,
  });
});

test('what was given and is not known is named', async () => {
  const dataDir = scratchDirectory();
  await adminCommand(dataDir, 'user', 'list');
  for (const noun of ['key', 'device', 'login', 'sign-in'])
    for (const [flag, given] of [
      ['--user', 'typo@example.com'],
      ['--org', 'Typo'],
    ] as const)
      expect(await adminCommand(dataDir, noun, 'list', flag, given)).toMatchObject({
        failed: [
          1,
          expect.stringMatching(new RegExp(`${given}: .*sallyport-gateway admin \\w+ list`)) as string,
        ],
      });
});

test('those that are named end, of any organization, and the audit tells who did it', async () => {
  const dataDir = scratchDirectory();
  await adminCommand(dataDir, 'user', 'list');
  await fill(dataDir);
  for (const [noun, verb, what, action] of [
    ['key', 'revoke', 'API key', 'api_key.revoke'],
    ['device', 'revoke', 'trusted device', 'trusted_device.revoke'],
    ['login', 'revoke', 'login', 'login.revoke'],
    ['sign-in', 'end', 'sign-in', 'sign_out'],
  ] as const) {
    const list = async () =>
      JSON.parse((await adminCommand(dataDir, noun, 'list')).stdout) as { readonly id: string }[];
    const [kept, ...gone] = await list();
    const ids = gone.map(({ id }) => id);
    const said = await adminCommand(dataDir, noun, verb, ids[0] ?? '', 'typo', ...ids);
    expect(said.failed).toEqual([
      1,
      `There is no ${what} typo: \`sallyport-gateway admin ${noun} list --data-dir ${dataDir}\` shows which there are.`,
    ]);
    expect(JSON.parse(said.stdout)).toEqual(gone.map((each) => ({ ...each, deleted: true })));
    expect(await list()).toEqual([kept]);
    expect(await adminCommand(dataDir, noun, verb, ids[0] ?? '')).toMatchObject({
      stdout: '',
      failed: { 0: 1 },
    });

    const { stdout } = await adminCommand(dataDir, 'audit', '--action', action);
    const entries = (JSON.parse(stdout) as Audited[]).toReversed();
    expect(entries.map(({ subject, actor }) => [subject, actor.type])).toEqual(
      ids.map((id) => [id, 'operator']),
    );
  }
});

interface Audited {
  readonly subject: string;
  readonly actor: { readonly type: string };
}

test('what has ended before the store fails is told of', async () => {
  const dataDir = scratchDirectory();
  await adminCommand(dataDir, 'user', 'list');
  const full = new ServiceError('store_unavailable', 'The disk is full.');
  const things = commandsOn({
    ...{ what: 'thing', noun: 'thing', done: 'ended', columns: { header: [], row: () => [], none: '' } },
    idOf: ({ id }: { readonly id: string }) => id,
    whose: () => '',
    read: () => Promise.resolve([{ id: 'a' }, { id: 'b' }]),
    end: (_, { id }) => (id === 'a' ? Promise.resolve() : Promise.reject(full)),
  });
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  await expect(things.end(['a', 'b'], { dataDir, json: true })).rejects.toBe(full);
  expect(JSON.parse(write.mock.calls.join(''))).toEqual([{ id: 'a', deleted: true }]);
});

test('client remove ends its logins, and keeps those of our own programs', async () => {
  const dataDir = scratchDirectory();
  const added = await adminCommand(
    dataDir,
    ...['client', 'add', '--name', 'App', '--redirect-uri', 'http://127.0.0.1/callback'],
  );
  const { client_id: app } = JSON.parse(added.stdout) as { readonly client_id: string };
  const own = (JSON.parse((await adminCommand(dataDir, 'client', 'list')).stdout) as { client_id: string }[])
    .map(({ client_id: id }) => id)
    .filter((id) => id !== app);
  expect(own).toHaveLength(2);
  const said = await adminCommand(dataDir, 'client', 'remove', ...own, app);
  expect(JSON.parse(said.stdout)).toMatchObject([{ client_id: app, deleted: true }]);
  expect(said.failed).toEqual([
    1,
    expect.stringMatching(/^(This is the client of the Sallyport .*: it cannot be removed\.\n?){2}$/),
  ]);
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';

let cwd: string;
beforeEach(() => (cwd = mkdtempSync(join(tmpdir(), 'sallyport-config-'))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const cli = (line: string, env: NodeJS.ProcessEnv = {}) => runCli(line.split(' '), { cwd, env });
const file = () => JSON.parse(readFileSync(join(cwd, 'config/config.json'), 'utf8')) as unknown;

test('settings are set, read with their origin, and unset', async () => {
  expect((await cli('config path')).stdout).toBe(`${join(cwd, 'config/config.json')}\n`);
  expect((await cli('config set base-url https://work.example/')).stdout).toBe(
    'base-url is https://work.example.\n',
  );
  expect(file()).toEqual({ 'base-url': 'https://work.example' });
  expect((await cli('config get base-url')).stdout).toBe('https://work.example\n');
  const { stdout } = await cli('config list --show-origin --json', { SALLYPORT_ORG: 'o' });
  expect(JSON.parse(stdout)).toEqual({
    'base-url': { value: 'https://work.example', origin: 'user', from: join(cwd, 'config/config.json') },
    organization: { value: 'o', origin: 'environment', from: 'SALLYPORT_ORG' },
    profile: { value: null, origin: 'default', from: 'default' },
    'credential-store': { value: 'auto', origin: 'default', from: 'default' },
    telemetry: { value: 'on', origin: 'default', from: 'default' },
    'dialect.vendor': { value: 'vendor', origin: 'default', from: 'default' },
    'dialect.agent': { value: 'agent', origin: 'default', from: 'default' },
  });
  await cli('config unset base-url');
  expect((await cli('config list --show-origin')).stdout).toBe(
    [
      'KEY               VALUE                  ORIGIN   FROM',
      'base-url          http://127.0.0.1:8787  default  default',
      'organization      -',
      'profile           -',
      'credential-store  auto                   default  default',
      'telemetry         on                     default  default',
      'dialect.vendor    vendor                 default  default',
      'dialect.agent     agent                  default  default',
      '',
    ].join('\n'),
  );
});

const mine = '0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b11';
const theirs = '0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b12';

test('what wins over the new value is told', async () => {
  const { stdout, stderr } = await cli(`config set organization ${mine}`, { SALLYPORT_ORG: 'theirs' });
  expect(stdout).toBe(`organization is ${mine}.\n`);
  expect(stderr).toBe('Here organization is theirs all the same: SALLYPORT_ORG wins.\n');
});

test.each([
  ['config get base-ulr', 2, 'There is no setting "base-ulr". Did you mean base-url?'],
  ['config set token x', 2, 'There is no setting "token".'],
  ['config set base-url ftp://x', 2, 'base-url is "ftp://x", which is no http or https address.'],
  ['config set profile gone', 4, 'There is no profile "gone", which this command names.'],
  ['whoami --profile gone', 4, 'There is no profile "gone", which --profile names.'],
  ['profile show gone', 4, 'There is no profile "gone".'],
  ['profile use gone', 4, 'There is no profile "gone".'],
  ['profile remove gone', 4, 'There is no profile "gone".'],
  ['config get organization', 4, 'organization has no value.'],
  ['config set organization nope', 2, 'organization is "nope", which is no organization\'s UUID.'],
  ['profile add new --organization nope', 2, '--organization is "nope", which is no organization\'s UUID.'],
  [
    'config set base-url https://a.example:99999',
    2,
    'base-url is "https://a.example:99999", whose port 99999 is none: ports end at 65535.',
  ],
  ['session run x --env=', 2, 'The value of --env is empty.'],
  ['session run x --tag=', 2, 'The value of --tag is empty.'],
  ['whoami --base-url=', 2, 'The value of --base-url is empty.'],
])('%s', async (line, exitCode, message) => {
  const ran = await cli(line);
  expect(ran).toMatchObject({ exitCode, stdout: '' });
  expect(ran.stderr.split('\n')[0]).toBe(`error: ${message}`);
});

test("where logins are kept is the machine's to say, whatever profile is in use", async () => {
  await cli('profile add work --base-url https://work.example --use');
  expect((await cli('config set credential-store file')).stdout).toBe('credential-store is file.\n');
  expect(file()).toMatchObject({ profile: 'work', 'credential-store': 'file' });
  expect((await cli('config get credential-store')).stdout).toBe('file\n');
  expect(await cli('config set credential-store vault')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Take auto, file, keychain') as string,
  });
});

test('profiles are added, used, changed, shown and removed', async () => {
  await cli('profile add home --base-url https://home.example');
  const added = await cli(`profile add work --organization ${theirs} --use`, {
    SALLYPORT_BASE_URL: 'https://work.example',
  });
  expect(added.stdout).toBe('Added the profile work for https://work.example. It is in use.\n');
  expect(await cli('profile add work')).toMatchObject({ exitCode: 5 });
  await cli(`config set organization ${mine}`);
  expect(file()).toEqual({
    profile: 'work',
    profiles: {
      home: { 'base-url': 'https://home.example' },
      work: { 'base-url': 'https://work.example', organization: mine },
    },
  });
  expect((await cli('config get organization')).stdout).toBe(`${mine}\n`);
  expect((await cli('profile list')).stdout).toBe(
    [
      '   NAME  BASE-URL              ORGANIZATION',
      '   home  https://home.example  -',
      `*  work  https://work.example  ${mine}`,
      '',
    ].join('\n'),
  );
  await cli('profile use home');
  expect(JSON.parse((await cli('profile show --json')).stdout)).toEqual({
    name: 'home',
    'base-url': 'https://home.example',
  });
  await cli('profile remove home');
  expect(await cli('profile show')).toMatchObject({ exitCode: 4 });
  expect((await cli('profile show work')).stdout).toContain('https://work.example');
  expect(await cli('profile use home')).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('error: There is no profile "home".\n') as string,
  });
});

test('a profile that the project asks for can be made there', async () => {
  mkdirSync(join(cwd, '.git'));
  writeFileSync(join(cwd, '.sallyport.json'), '{"profile": "team"}');
  const refused = await cli('whoami');
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toBe(
    [
      `error: There is no profile "team", which ${join(cwd, '.sallyport.json')} names.`,
      'Make it: sallyport profile add team --base-url URL',
      '',
    ].join('\n'),
  );
  expect(await cli('profile add team --base-url http://127.0.0.1:9')).toMatchObject({ exitCode: 0 });
  expect((await cli('config get base-url --show-origin')).stdout).toBe(
    `http://127.0.0.1:9\tproject\tprofile team in ${join(cwd, 'config/config.json')}\n`,
  );
  expect(await cli('whoami')).toMatchObject({ exitCode: 3 });
});

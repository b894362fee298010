import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readUserFile, userFilePath, writeUserFile } from './files.ts';
import { defaultBaseUrl } from './keys.ts';
import { readSettings as settingsOf, type SettingsFlags } from './settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-settings-'));
  mkdirSync(join(folder, 'config'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const project = () => join(folder, 'project');
const put = (name: string, content: unknown) => {
  mkdirSync(project(), { recursive: true });
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
};
const readSettings = (flags: SettingsFlags, env: NodeJS.ProcessEnv) => {
  mkdirSync(project(), { recursive: true });
  return settingsOf(flags, { SALLYPORT_CONFIG_DIR: join(folder, 'config'), ...env }, project());
};

test('flags over environment over defaults', () => {
  expect(readSettings({}, {}).baseUrl).toBe(defaultBaseUrl);
  const env = { SALLYPORT_BASE_URL: 'https://team.example/prefix/' };
  expect(readSettings({}, env).baseUrl).toBe('https://team.example/prefix');
  expect(readSettings({ baseUrl: 'http://127.0.0.1:1' }, env).baseUrl).toBe('http://127.0.0.1:1');
});

test('an empty variable counts as none', () => {
  const settings = readSettings({}, { SALLYPORT_BASE_URL: '', SALLYPORT_TOKEN: ' ', SALLYPORT_ORG: '' });
  expect(settings).toMatchObject({ baseUrl: defaultBaseUrl, token: undefined, organization: undefined });
});

test('one folder holds everything where SALLYPORT_CONFIG_DIR says so', () => {
  expect(readSettings({}, { SALLYPORT_CONFIG_DIR: '/x' })).toMatchObject({
    configDir: '/x',
    stateDir: '/x/state',
  });
});

test.each(['nonsense', 'ftp://host', '127.0.0.1:8787', 'file:///etc/passwd'])(
  '%s is no address',
  (baseUrl) => {
    expect(() => readSettings({}, { SALLYPORT_BASE_URL: baseUrl })).toThrow(/SALLYPORT_BASE_URL is/);
    expect(() => readSettings({ baseUrl }, {})).toThrow(/--base-url is/);
  },
);

describe('the dialect', () => {
  const env = { SALLYPORT_DIALECT_VENDOR: 'acme' };

  test('is neutral where nothing is said', () => {
    expect(readSettings({}, {}).dialect).toEqual({ vendor: 'vendor', agent: 'agent' });
    expect(readSettings({}, env).dialect).toEqual({ vendor: 'acme', agent: 'agent' });
  });

  test('belongs to a profile, as the address does', () => {
    put('config/config.json', {
      profile: 'work',
      profiles: { work: { 'base-url': 'https://work.example', 'dialect.agent': 'robot' } },
    });
    expect(readSettings({}, env).dialect).toEqual({ vendor: 'acme', agent: 'robot' });
  });

  test.each(['Acme', 'a-b', '1a'])('%s is no word of it', (word) => {
    expect(() => readSettings({}, { SALLYPORT_DIALECT_AGENT: word })).toThrow(/SALLYPORT_DIALECT_AGENT is/);
  });
});

describe('the files', () => {
  const profiles = {
    work: { 'base-url': 'https://work.example', organization: 'w' },
    home: { 'base-url': 'https://home.example' },
  };

  test('flags over environment over project over user over default', () => {
    put('config/config.json', { 'base-url': 'https://user.example', organization: 'user' });
    expect(readSettings({}, {})).toMatchObject({ baseUrl: 'https://user.example', organization: 'user' });
    put('project/.sallyport.json', { organization: 'project' });
    expect(readSettings({}, {})).toMatchObject({
      baseUrl: 'https://user.example',
      organization: 'project',
    });
    const env = { SALLYPORT_ORG: 'ENV', SALLYPORT_BASE_URL: 'https://env.example' };
    expect(readSettings({}, env)).toMatchObject({ baseUrl: 'https://env.example', organization: 'ENV' });
    expect(readSettings({ baseUrl: 'https://flag.example' }, env).baseUrl).toBe('https://flag.example');
  });

  test.each([
    ['user', {}, {}, undefined, 'https://home.example', undefined],
    ['project over user', {}, {}, 'work', 'https://work.example', 'w'],
    ['variable over project', {}, { SALLYPORT_PROFILE: 'home' }, 'work', 'https://home.example', undefined],
    [
      'flag over variable',
      { profile: 'work' },
      { SALLYPORT_PROFILE: 'home' },
      undefined,
      'https://work.example',
      'w',
    ],
    [
      'the flag wins over single variables',
      { profile: 'work' },
      { SALLYPORT_BASE_URL: 'https://env.example' },
      undefined,
      'https://work.example',
      'w',
    ],
    [
      'the user file does not',
      {},
      { SALLYPORT_BASE_URL: 'https://env.example' },
      undefined,
      'https://env.example',
      undefined,
    ],
    [
      'a single flag wins over the profile',
      { profile: 'work', baseUrl: 'https://flag.example' },
      {},
      undefined,
      'https://flag.example',
      'w',
    ],
  ])('a profile is chosen by %s', (_, flags, env, ofProject, baseUrl, organization) => {
    // The organization beside the profiles belongs to another gateway than theirs.
    put('config/config.json', { organization: 'elsewhere', profile: 'home', profiles });
    if (ofProject !== undefined) put('project/.sallyport.json', { profile: ofProject });
    // Its login counts where its address does.
    const profile = /home|work/.exec(baseUrl)?.[0];
    expect(readSettings(flags, env)).toMatchObject({ baseUrl, organization, profile });
  });

  test('of a project counts below its folder, and not beyond the repository', () => {
    put('.sallyport.json', { organization: 'above' });
    const env = { SALLYPORT_CONFIG_DIR: join(folder, 'config') };
    const deep = join(project(), 'a', 'b');
    mkdirSync(deep, { recursive: true });
    expect(settingsOf({}, env, deep).organization).toBe('above');
    mkdirSync(join(project(), '.git'));
    expect(settingsOf({}, env, deep).organization).toBeUndefined();
    put('project/.sallyport.json', { organization: 'own' });
    expect(settingsOf({}, env, deep).organization).toBe('own');
  });

  test('of a project may not say where logins and prompts go', () => {
    put('project/.sallyport.json', { 'base-url': 'https://evil.example' });
    expect(() => readSettings({}, {})).toThrow(/may not: it would choose where your login goes/);
    expect(() => readSettings({ baseUrl: defaultBaseUrl }, {})).toThrow(/may not/);
  });

  test('of a project does not send SALLYPORT_TOKEN to a profile of its choice', () => {
    put('config/config.json', { profiles });
    put('project/.sallyport.json', { profile: 'work' });
    const env = { SALLYPORT_TOKEN: 'secret' };
    expect(() => readSettings({}, env)).toThrow(
      /SALLYPORT_TOKEN is set, and the project's file would choose/,
    );
    expect(readSettings({ profile: 'work' }, env).baseUrl).toBe('https://work.example');
    expect(readSettings({}, { ...env, SALLYPORT_BASE_URL: 'https://env.example' }).baseUrl).toBe(
      'https://env.example',
    );
  });

  test.each([
    ['config/config.json', '{', /config\.json cannot be used: it is no JSON/],
    ['config/config.json', [], /it is no JSON object/],
    ['config/config.json', { 'base-url': 7 }, /"base-url" is no text/],
    ['config/config.json', { 'base-url': 'nonsense' }, /base-url in .*config\.json is "nonsense"/],
    ['config/config.json', { 'base-ulr': 'x' }, /"base-ulr" in .*config\.json. Did you mean base-url\?/],
    ['config/config.json', { profiles: { a: 'x' } }, /the profile a is no object/],
    ['config/config.json', { profiles: { a: { profile: 'b' } } }, /the profile a names a profile/],
    [
      'config/config.json',
      { profiles: { a: { 'credential-store': 'file' } } },
      /the profile a names a credential-store/,
    ],
    ['config/config.json', { profiles: { a: { telemetry: 'off' } } }, /the profile a names a telemetry/],
    ['project/.sallyport.json', { 'credential-store': 'file' }, /sets credential-store, which a project/],
    ['config/config.json', { profile: 'gone' }, /no profile "gone", which .*config\.json names/],
    [
      'config/config.json',
      { profile: 'wrok', profiles: { work: {} } },
      /no profile "wrok", which .* names\. Did you mean work\?/,
    ],
    ['project/.sallyport.json', { profil: 'x' }, /Did you mean profile\?/],
    ['project/.sallyport.json', { profile: '__proto__' }, /no profile "__proto__"/],
  ])('%s with %j is refused with the reason', (name, content, reason) => {
    put(name, content);
    expect(() => readSettings({}, {})).toThrow(reason);
  });

  test('of the user is written whole, for the user alone', async () => {
    const path = userFilePath(join(folder, 'new', 'config'));
    const file = { values: { profile: 'work' }, profiles };
    await writeUserFile(path, file);
    expect(readUserFile(path)).toEqual(file);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'new', 'config')).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, 'utf8')).toMatch(/^\{\n {2}"profile": "work"/);
    writeFileSync(join(folder, 'a-file'), '');
    await expect(writeUserFile(join(folder, 'a-file', 'config.json'), file)).rejects.toThrow(
      /cannot be written/,
    );
  });
});

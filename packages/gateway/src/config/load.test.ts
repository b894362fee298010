import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { environmentName, loadConfig } from './load.ts';

let directory: string;
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'sallyport-config-'))));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const env = { HOME: '/home/me' };
const originOf = (sources: Parameters<typeof loadConfig>[0], key: string) =>
  loadConfig(sources).settings.find((setting) => setting.key === key)?.origin;

describe('precedence', () => {
  const yaml = () => file('port.yaml', 'port: 1003\noauth:\n  issParameter: false\n');

  test('is flags over environment over file over defaults', () => {
    const sources = { env: { ...env, SALLYPORT_PORT: '1002' }, file: yaml(), flags: { port: '1001' } };
    expect(loadConfig(sources).config.port).toBe(1001);
    expect(loadConfig({ ...sources, flags: {} }).config.port).toBe(1002);
    expect(loadConfig({ env, file: sources.file }).config.port).toBe(1003);
    expect(loadConfig({ env }).config.port).toBe(8787);
  });

  test('holds for nested keys, and each setting knows its origin', () => {
    const sources = { env, file: yaml() };
    expect(loadConfig(sources).config.oauth).toMatchObject({ issParameter: false, refreshGraceSeconds: 30 });
    expect(originOf(sources, 'oauth.issParameter')).toBe(sources.file);
    expect(originOf({ env: { ...env, SALLYPORT_OAUTH_ISS_PARAMETER: 'false' } }, 'oauth.issParameter')).toBe(
      'SALLYPORT_OAUTH_ISS_PARAMETER',
    );
    expect(originOf({ env, flags: { dataDir: 'x' } }, 'dataDir')).toBe('--data-dir');
    expect(originOf({ env }, 'dataDir')).toBe('default');
  });

  test('environment names come from the keys', () => {
    expect(
      ['port', 'dataDir', 'publicUrl', 'redisUrl', 'oauth.refreshGraceSeconds'].map(environmentName),
    ).toEqual([
      'SALLYPORT_PORT',
      'SALLYPORT_DATA_DIR',
      'SALLYPORT_PUBLIC_URL',
      'SALLYPORT_REDIS_URL',
      'SALLYPORT_OAUTH_REFRESH_GRACE_SECONDS',
    ]);
  });

  test('variables of other programs are not looked at', () => {
    expect(loadConfig({ env: { ...env, SALLYPORT_TOKEN: 'x', SALLYPORT_BASE_URL: 'y' } }).config.port).toBe(
      8787,
    );
  });
});

describe('values', () => {
  test('defaults: loopback, the data home, nothing else asked for', () => {
    const { config } = loadConfig({ env });
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      dataDir: '/home/me/.local/share/sallyport',
    });
    expect(loadConfig({ env: { ...env, XDG_DATA_HOME: '/data' } }).config.dataDir).toBe('/data/sallyport');
  });

  test('JSON and YAML files, and an empty one', () => {
    const json = file('c.json', '{"rateLimits":{"default":10,"devices.trust":0},"logLevel":"debug"}');
    expect(loadConfig({ env, file: json }).config).toMatchObject({
      rateLimits: { default: 10, 'devices.trust': 0 },
      logLevel: 'debug',
    });
    expect(loadConfig({ env, file: file('empty.yaml', '# nothing\n') }).config.port).toBe(8787);
  });

  test('text forms: numbers, flags, lists, objects; a public address loses its last slash', () => {
    const { config } = loadConfig({
      env: {
        ...env,
        SALLYPORT_TRUST_PROXY: 'true',
        SALLYPORT_OAUTH_CORS_ORIGINS: 'https://a.example, https://b.example',
        SALLYPORT_RATE_LIMITS: '{"default":5}',
        SALLYPORT_PUBLIC_URL: 'https://sallyport.example/base/',
        SALLYPORT_DRAIN_SECONDS: '0.5',
      },
    });
    expect(config).toMatchObject({
      trustProxy: true,
      rateLimits: { default: 5 },
      publicUrl: 'https://sallyport.example/base',
      drainSeconds: 0.5,
    });
    expect(config.oauth.corsOrigins).toEqual(['https://a.example', 'https://b.example']);
  });
});

test('0 is taken where it has a meaning, a fraction where time is measured here', () => {
  const flags = {
    'bridge.registrationTtlSeconds': '0',
    'bridge.tickSeconds': '0.05',
    'oauth.refreshGraceSeconds': '0',
    'oauth.codeReplaySeconds': '0',
    drainSeconds: '0',
  };
  const { config } = loadConfig({ env, flags });
  expect(config).toMatchObject({
    bridge: { registrationTtlSeconds: 0, tickSeconds: 0.05 },
    oauth: { refreshGraceSeconds: 0, codeReplaySeconds: 0 },
    drainSeconds: 0,
  });
});

test.each([
  [{}, true, 'default'],
  [{ host: '::1' }, true, 'default'],
  [{ host: '192.0.2.1' }, false, 'default'],
  [{ publicUrl: 'https://sallyport.example' }, false, 'default'],
  [{ 'oauth.singleUser': 'false' }, false, '--set oauth.singleUser'],
  [{ host: '192.0.2.1', 'oauth.singleUser': 'true' }, true, '--set oauth.singleUser'],
])('%j: is one person served? %s', (flags, expected, origin) => {
  const { config, settings } = loadConfig({ env, flags });
  expect(config.oauth.singleUser).toBe(expected);
  expect(settings).toContainEqual({ key: 'oauth.singleUser', value: expected, origin });
});

describe('errors', () => {
  test.each([
    ['port', '70000', 'port (from --port) must be a whole number, from 0 to 65535, not "70000".'],
    ['port', '', 'port (from --port) must be a whole number, from 0 to 65535, not "".'],
    ['port', '1e3', 'port (from --port) must be a whole number, from 0 to 65535, not "1e3".'],
    [
      'logLevel',
      'loud',
      'logLevel (from --log-level) must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
    ],
    ['trustProxy', 'yes', 'trustProxy (from --trust-proxy) must be true or false, not "yes".'],
    [
      'oauth.issParameter',
      '1',
      'oauth.issParameter (from --set oauth.issParameter) must be true or false, not "1".',
    ],
  ])('%s = %j says what is allowed', (key, value, message) => {
    expect(() => loadConfig({ env, flags: { [key]: value } })).toThrow(message);
  });

  test.each([
    ['bridge.pageEvents', '0', 'must be a whole number, 1 or more, not "0".'],
    ['bridge.maxDeliveries', '0.5', 'must be a whole number, 1 or more, not "0.5".'],
    ['bridge.tickSeconds', '0', 'must be a number of seconds above 0, not "0".'],
    ['bridge.registrationTtlSeconds', '-1', 'must be a number of seconds, 0 or more, not "-1".'],
    ['oauth.accessTokenSeconds', '0.5', 'must be a whole number, 1 or more, not "0.5".'],
    ['oauth.refreshGraceSeconds', '0.5', 'must be a whole number, 0 or more, not "0.5".'],
    ['oauth.failures.tokens', '0', 'must be a whole number, 1 or more, not "0".'],
    ['oauth.singleUser', '1', 'must be true or false, not "1".'],
  ])('%s = %j would break an engine', (key, value, message) => {
    expect(() => loadConfig({ env, flags: { [key]: value } })).toThrow(
      `${key} (from --set ${key}) ${message}`,
    );
  });

  test('name the file or the variable that a value is from', () => {
    const path = file('bad.yaml', 'port: many\n');
    expect(() => loadConfig({ env, file: path })).toThrow(`port (from ${path}) must be`);
    expect(() => loadConfig({ env: { ...env, SALLYPORT_PUBLIC_URL: 'ftp://x' } })).toThrow(
      'publicUrl (from SALLYPORT_PUBLIC_URL) must be an absolute http or https address',
    );
  });

  test.each([
    ['prot: 1', 'port'],
    ['datadir: x', 'dataDir'],
    ['oauth:\n  issParam: true', 'oauth.issParameter'],
    ['oath:\n  issParameter: true', 'oauth'],
    ['refreshGraceSeconds: 1', 'oauth.refreshGraceSeconds'],
  ])('an unknown key names the nearest known one: %j', (text, meant) => {
    expect(() => loadConfig({ env, file: file('unknown.yaml', text) })).toThrow(`Did you mean ${meant}?`);
  });

  test('an unknown key that is near to none says where they are listed', () => {
    expect(() => loadConfig({ env, flags: { zzzzzzzzzzzz: '1' } })).toThrow(
      '`sallyport-gateway config` lists them',
    );
  });

  test.each([
    'https://me@api.example',
    'https://:hunter2@api.example',
    'https://api.example?a',
    'ftp://api.example',
  ])('an upstream at %s, which has more in it than an address, is refused unseen', (upstream) => {
    const load = () => loadConfig({ env, flags: { upstream } });
    expect(load).toThrow('must be an absolute http or https address without query');
    expect(load).not.toThrow('hunter2');
  });

  test('a file that is missing, broken or no settings', () => {
    expect(() => loadConfig({ env, file: '/nowhere.yaml' })).toThrow(
      '/nowhere.yaml cannot be read: there is no such file.',
    );
    expect(() => loadConfig({ env, file: '/dev/null/g.yaml' })).toThrow('ENOTDIR: not a directory');
    expect(() => loadConfig({ env, file: file('b.json', '{') })).toThrow(/b\.json cannot be read: /);
    expect(() => loadConfig({ env, file: file('b.yaml', 'a: [') })).toThrow(/b\.yaml cannot be read: /);
    expect(() => loadConfig({ env, file: file('l.yaml', '- port') })).toThrow('must hold settings by name');
  });

  test.each([
    ['b.json', '{"upstream": {"credential": hunter2}}', 'it is not valid JSON.'],
    ['b.json', '{"upstream": {"credential": "hunter2" hunter2}}', 'it is not valid JSON (line 1 column 39).'],
    ['b.yaml', 'upstream:\n  credential: hunter2: hunter2', 'at line 2, column 15.'],
    [
      'b.yaml',
      'upstream:\n  credential: *hunter2',
      'Unresolved alias (the anchor must be set before the alias).',
    ],
    ['b.yaml', 'upstream:\n  credential: "hunter2\nareas: {}', 'Missing closing "quote at line 3, column '],
    ['b.yaml', 'upstream:\n  credential: !hunter2!', 'at line 2, column 15.'],
    ['b.yaml', 'upstream:\n  credential: |hunter2', 'at line 2, column 16.'],
    ['b.yaml', 'upstream:\n  credential: !hunter2', 'Unresolved tag at line 2, column 15.'],
  ])('what is wrong with %s is told, and where, but not what stands there: %s', (name, text, says) => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => warned.mockRestore());
    const load = () => loadConfig({ env, file: file(name, text) });
    expect(load).toThrow(says);
    expect(load).not.toThrow('hunter2');
    expect(warned).not.toHaveBeenCalled();
  });

  test.each([
    ['store', 'postgres://user:hunter2@db/sallyport', 'store is postgres:'],
    ['redisUrl', 'redis://localhost', 'redisUrl is set'],
    ['host', '0.0.0.0', 'publicUrl must be set when host is 0.0.0.0'],
  ])('what this release does not do is refused: %s', (key, value, message) => {
    const load = () => loadConfig({ env, flags: { [key]: value } });
    expect(load).toThrow(message);
    expect(load).not.toThrow('hunter2');
  });
});

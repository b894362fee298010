import { expect, test } from 'vitest';
import { defaultBaseUrl, readSettings } from './settings.ts';

test('flags over environment over defaults', () => {
  expect(readSettings({}, {}).baseUrl).toBe(defaultBaseUrl);
  const env = { SALLYPORT_BASE_URL: 'https://team.example/prefix/' };
  expect(readSettings({}, env).baseUrl).toBe('https://team.example/prefix');
  expect(readSettings({ baseUrl: 'http://127.0.0.1:1' }, env).baseUrl).toBe('http://127.0.0.1:1');
});

test('an empty variable counts as none', () => {
  const settings = readSettings({}, { SALLYPORT_BASE_URL: '', SALLYPORT_TOKEN: ' ', SALLYPORT_ORG: '' });
  expect(settings).toMatchObject({ baseUrl: defaultBaseUrl, token: undefined, organizationId: undefined });
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

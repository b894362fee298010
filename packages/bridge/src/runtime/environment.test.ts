import { expect, test } from 'vitest';
import { looksSecret, sessionEnvironment } from './environment.ts';

test.each([
  ['SALLYPORT_TOKEN', 'x'],
  ['GITHUB_TOKEN', 'x'],
  ['NPM_CONFIG__AUTH', 'x'],
  ['AWS_SECRET_ACCESS_KEY', 'x'],
  ['OPENAI_API_KEY', 'x'],
  ['PGPASSWORD', 'x'],
  ['MYSQL_PWD', 'x'],
  ['my_passphrase', 'x'],
  ['DATABASE_URL', 'postgres://me:secret@db/x'],
  ['HARMLESS', 'ghp_abcdef'],
  ['BLOB', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln'],
  ['CERT', '-----BEGIN RSA PRIVATE KEY-----'],
])('%s=%s looks secret', (name, value) => expect(looksSecret(name, value)).toBe(true));

test.each([
  ['PATH', '/bin'],
  ['PWD', '/home/me'],
  ['OLDPWD', '/'],
  ['HOME', '/home/me'],
  ['SSH_AUTH_SOCK', '/run/agent'],
  ['XAUTHORITY', '/home/me/.Xauthority'],
  ['KEYBOARD', 'de'],
  ['HTTP_PROXY', 'http://proxy:3128'],
  ['EDITOR', 'vi'],
])('%s=%s does not', (name, value) => expect(looksSecret(name, value)).toBe(false));

test('a session gets what is harmless or passed on by name, and knows which one it is', () => {
  const inherited = {
    PATH: '/bin',
    A_TOKEN: 'a',
    B_TOKEN: 'b',
    GONE: undefined,
    SALLYPORT_SESSION_ID: 'outer',
  };
  const mark = { sessionId: 'session_1', workId: 'work_1', environmentId: 'env_1' };
  expect(sessionEnvironment({ inherited, pass: ['B_TOKEN'] }, mark)).toEqual({
    PATH: '/bin',
    B_TOKEN: 'b',
    SALLYPORT_SESSION_ID: 'session_1',
    SALLYPORT_WORK_ID: 'work_1',
    SALLYPORT_ENVIRONMENT_ID: 'env_1',
  });
});

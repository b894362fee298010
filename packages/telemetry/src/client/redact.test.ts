import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './redact.ts';

const redactor = createRedactor({ home: '/home/jane', cwd: '/home/jane/work/app', tmp: '/tmp' });

/** 32 random bytes, as the service writes them; without a hyphen, which would be looked at anyhow. */
const opaque = 'T3x55O9kL_sHZ8bA1LMwrPv_U0PyrNzQxPu0htibUQk';
const word = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';

test.each([
  ['--token sk-abc', '--token [redacted]'],
  ['--password "two words" --verbose', '--password [redacted] --verbose'],
  ['--api-key=hunter2', '--api-key=[redacted]'],
  ['run with key sk-live_123-x', 'run with key [redacted]'],
  ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
  ['got Bearer abc.def, then', 'got Bearer [redacted], then'],
  ['Cookie: a=1; b=2', 'Cookie: [redacted]'],
  ['{"password":"two words","user":"x"}', '{"password":[redacted],"user":"x"}'],
  ['{"tokens":["abc","d e"],"x":1}', '{"tokens":[redacted],"x":1}'],
  ['{"credentials":{"user":"u","value":"abc"},"x":1}', '{"credentials":[redacted],"x":1}'],
  ['{"credentials":{"of":{"the":{"user":["u"]}},"value":"a]b}c"},"x":1}', '{"credentials":[redacted],"x":1}'],
  ['argv: ["run", "--token", "abc", "x"]', 'argv: ["run", "--token", [redacted], "x"]'],
  [`[ '--api-key', 'abc' ]`, `[ '--api-key', [redacted] ]`],
  ['["--no-token","--verbose"]', '["--no-token",[redacted]]'],
  [String.raw`{\"accessToken\":\"abc\"}`, String.raw`{\"accessToken\":\[redacted]}`],
  ['https://u:p@host/x?token=t&page=2', 'https://[redacted]@host/x?token=[redacted]&page=2'],
  ['https://u:p@ss@word@host/x', 'https://[redacted]@host/x'],
  ['postgres://u:p@host:5432/db and a@b', 'postgres://[redacted]@host:5432/db and a@b'],
  ['jwt eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end', 'jwt [redacted] end'],
  ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
  ['ghp_0123456789abcdefghijABCDEFGHIJ', '[redacted]'],
  ['github_pat_11ABCDEFG0abcdefghijkl_xyz', '[redacted]'],
  [`got sps_${opaque}, then`, 'got [redacted], then'],
  [`got spr_0b6f7a52-8d5e-4b5e-9d3f-000000000001.17.${opaque}, then`, 'got [redacted], then'],
  ...[
    `glpat-${opaque.slice(0, 20)}`,
    `npm_${word}`,
    `xoxb-${opaque}`,
    `AIza${opaque.slice(0, 35)}`,
    `sk_live_${word}`,
    `hf_${word}`,
  ].map((key): [string, string] => [`it is ${key} here`, 'it is [redacted] here']),
  ['a\n-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\nb', 'a\n[redacted]\nb'],
  ['cut -----BEGIN PRIVATE KEY-----\nMHc', 'cut [redacted]'],
  ['open /home/jane/work/app/src/x.ts', 'open <cwd>/src/x.ts'],
  ['open /home/jane/.config', 'open ~/.config'],
  ['open /home/janet/x', 'open /home/<user>/x'],
  ['at f (/Users/Jane Doe/app/x.ts:1)', 'at f (/Users/<user>/app/x.ts:1)'],
  [String.raw`C:\Users\Jane Doe\app`, String.raw`C:\Users\<user>\app`],
  [String.raw`"C:\\Users\\Jane Doe\\app"`, String.raw`"C:\\Users\\<user>\\app"`],
  ['file:///C:/Users/jane/x', 'file:///C:/Users/<user>/x'],
  ['machine x login me password hunter2', 'machine x login me password [redacted]'],
  ['machine x\n  login me\n  password hunter2\n', 'machine x\n  login me\n  password [redacted]\n'],
  ['curl -u me:hunter2 https://x/', 'curl -u me:[redacted] https://x/'],
  ['<password>two words</password>', '<password>[redacted]</password>'],
  [`:password => "two words", a: 1`, ':password => [redacted], a: 1'],
  ['{"auths":{"r.io":{"auth":"bWU6eA=="}}}', '{"auths":{"r.io":{"auth":[redacted]}}}'],
  ['https://x/y?X-Amz-Signature=abc&page=2', 'https://x/y?X-Amz-Signature=[redacted]&page=2'],
])('%j', (text, redacted) => {
  expect(redactor.text(text)).toBe(redacted);
});

test.each([
  'session.started',
  'a task-based desk',
  'sp_a and wasp_nests, npm_config_cache, hf_hub',
  'took 12:30 - 12:45',
  'GET /v1/sessions -> 200',
  '1 + 1 = 2',
  'the password was wrong',
  'password for jane is refused',
  'oauth: it took 3 ms',
  '--- PASS: TestAuthor (0.00s)',
])('%j is left as it is', (text) => {
  expect(redactor.text(text)).toBe(text);
});

test.each([
  ['Authorization', true],
  ['apiKey', true],
  ['session_key', true],
  ['PASSWORD', true],
  ['duration', false],
])('a member called %s is a secret: %s', (name, isSecret) => {
  expect(redactor.isSecret(name)).toBe(isSecret);
});

test('what is left out of a list on one line is left out where it takes several, and no more', () => {
  const value = {
    n: 1,
    args: ['run', '--token', 'SECRET', '--verbose', 'last'],
    tokens: ['SECRET', { of: ['SECRET'] }, 'SECRET, "SECRET'],
    name: 'jan',
    inner: { 'api-key': { of: [{ a: 'SECRET' }] }, cookies: [], count: 2 },
    end: ['x'],
  };
  const printed = [
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n'),
    inspect(value, { depth: 9, breakLength: 1 }),
    'n: 1\nargs:\n  - run\n  - --token\n  - SECRET\n  - last\ntokens:\n- SECRET\n- SECRET\nname: jan\ninner:\n  password: |\n    SECRET\n    SECRET\n\n    SECRET\n  count: 2\nend: x',
    'tokens = [\n"SECRET",\n"SECRET"\n]\nname jan count 2 end run last',
  ];
  for (const text of printed) {
    const shown = redactor.text(text);
    expect(shown).not.toContain('SECRET');
    for (const word of ['run', 'last', 'jan', 'count', 'end']) expect(shown).toContain(word);
  }
});

const secret = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/);
const around = fc.stringMatching(/^[a-z ,.\n]{0,20}$/);

test('no secret survives, whatever stands around it', () => {
  const forms: readonly ((value: string) => string)[] = [
    (value) => `sk-${value}`,
    (value) => `ghp_${value}${value}`,
    (value) => `github_pat_${value}${value}`,
    (value) => `eyJ${value}`,
    (value) => `glpat-${value}${value}`,
    (value) => `xoxb-${value}`,
    (value) => `npm_${value}${value}`,
    (value) => `spr_${value}-${value}.3.${value}`,
    (value) => `DB_PASS=${value}`,
    (value) => `MYSQL_PWD: ${value}`,
    (value) => `key_passphrase = "${value}"`,
    (value) => `AccountName=x;AccountKey=${value}==;EndpointSuffix=y`,
    (value) => `SIGNING_KEY=${value}`,
    (value) => `//registry.example/:_auth=${value}`,
    (value) => `https://example.com/?to=https%3A%2F%2Fother.example%2F%3Ftoken%3D${value}`,
    (value) => `Bearer ${value}`,
    (value) => `--client-secret ${value}`,
    (value) => `token=${value}`,
    (value) => `"api_key": "${value}"`,
    (value) => `{"secrets": ["x", "${value}"]}`,
    (value) => String.raw`{\"credential\":{\"is\":\"${value}\"}}`,
    (value) => `https://me:${value}@example.com/`,
    (value) => `https://example.com/?access_token=${value}`,
    (value) => `/home/${value}/x`,
  ];
  fc.assert(
    fc.property(secret, around, around, fc.constantFrom(...forms), (value, before, after, form) => {
      const text = redactor.text(`${before} ${form(value)} ${after}`);
      expect(text).not.toContain(value);
    }),
  );
});

test('no secret survives in JSON, as deep in strings of other JSON as it may be', () => {
  const forms: readonly ((value: string) => unknown)[] = [
    (value) => ({ password: value }),
    (value) => ({ tokens: ['x', value] }),
    (value) => ({ args: ['run', '--token', value] }),
    (value) => ({ text: `DB_PASSWORD=${value}\nA=1` }),
    (value) => ({ text: `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----` }),
  ];
  fc.assert(
    fc.property(secret, fc.constantFrom(...forms), fc.nat(5), (value, form, depth) => {
      let text = JSON.stringify(form(value));
      for (let outer = 0; outer < depth; outer++) text = JSON.stringify({ text });
      expect(redactor.text(text)).not.toContain(value);
    }),
  );
});

describe('time', () => {
  const mebibyte = (unit: string) => unit.repeat(Math.ceil((1024 * 1024) / unit.length));

  test('1 MiB of one letter takes less than 20 ms', () => {
    const text = mebibyte('a');
    expect(Math.min(...Array.from({ length: 5 }, () => timeOf(text)))).toBeLessThan(20);
  });

  // A quadratic expression takes minutes for these.
  test.each([
    'token',
    '--',
    '-a',
    '- a',
    '-----BEGIN A',
    '-----BEGIN A-----',
    'eyJ',
    'sk-',
    'bearer ',
    '://',
    '://a',
    '/home/',
    '"',
    "token='",
    'token="',
    'token=[',
    'token:{',
    'token=[{',
    'token: [\n',
    'token: [[\n',
    'token:\n',
    '"--token", ',
    '"--token",\n',
    'ab [c] ',
    'password: ',
    'AKIA',
    'ghp_',
    'sps_',
    'spr_a.',
    'npm_',
    'xoxb-',
    '_pwd',
    'token%3D',
    ' ',
    '\\',
    'authorization',
    'cookie:',
    '=',
    '@',
    '/Users/\\',
    'login x ',
    'login x\npassword ',
    '<a',
    '<password>',
    '-u a',
    '-u a:',
    '?sig=',
    'mysql -p',
    '-u "a:',
    'config set token',
    'name: token value: ',
    'token="""',
    'kind: Secret\ndata:\n',
    ' a: QUJD\n',
    'a:1234:b:',
    'token\\',
    'token"\\',
  ])('is linear in repeats of %j', (unit) => {
    expect(timeOf(mebibyte(unit))).toBeLessThan(3000);
    expect(timeOf(`-${mebibyte(unit)}`)).toBeLessThan(3000);
    expect(timeOf(`token=[${mebibyte(unit)}`)).toBeLessThan(3000);
  });

  /** Milliseconds of this thread alone: a busy machine must not be taken for a slow expression. */
  function timeOf(text: string): number {
    const before = process.threadCpuUsage();
    redactor.text(text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  }
});

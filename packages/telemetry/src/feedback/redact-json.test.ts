import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../client/redact.ts';
import { redactJson } from './redact-json.ts';
import { tailOf } from './text-lines.ts';

const redactor = createRedactor({ home: '/home/jane' });

test.each([
  ['{"password":"two words","user":"x"}', '{"password":"[redacted]","user":"x"}'],
  [
    '{ "pin_token" : 12e3 , "n": 9007199254740993 }',
    '{ "pin_token" : "[redacted]" , "n": 9007199254740993 }',
  ],
  ['{"token":null,"hasToken":true}', '{"token":null,"hasToken":true}'],
  ['{"tokens":["a",{"of":["b]"]}],"x":1}', '{"tokens":"[redacted]","x":1}'],
  ['{"credentials":{"a":{"token":"b"}},"x":"y"}', '{"credentials":"[redacted]","x":"y"}'],
  [String.raw`{"\u0074oken":"a"}`, String.raw`{"\u0074oken":"[redacted]"}`],
  [String.raw`{"a\"b":"say \"hi\" to \u00e4"}`, String.raw`{"a\"b":"say \"hi\" to \u00e4"}`],
  [String.raw`{"text":"{\"token\":\"abc\"}"}`, String.raw`{"text":"{\"token\":[redacted]}"}`],
  [String.raw`{"log":"a\ntokens:\n  - abc\nb"}`, String.raw`{"log":"a\ntokens:\n[redacted]\nb"}`],
  ['["run","--token","abc","x"]', '["run","--token","[redacted]","x"]'],
  ['["--token",{"a":"b"},["c"]]', '["--token","[redacted]",["c"]]'],
  ['[{"name":"Cookie","value":"a=1"}]', '[{"name":"Cookie","value":"[redacted]"}]'],
  [
    '{"key":"db.password","value":{"stringValue":"a"},"x":1}',
    '{"key":"db.password","value":"[redacted]","x":1}',
  ],
  ['{"name":"jan","value":"a"}', '{"name":"jan","value":"a"}'],
  ['{"/home/jane/x":{"cwd":"/home/jane"}}', '{"~/x":{"cwd":"~"}}'],
  ['{"credential-store":"file","token_type":"Bearer"}', '{"credential-store":"file","token_type":"Bearer"}'],
  [
    '{"credentialStore":"file","tokenEndpointAuthMethod":"client_secret_basic","SECRET_MODE":"none"}',
    '{"credentialStore":"file","tokenEndpointAuthMethod":"client_secret_basic","SECRET_MODE":"none"}',
  ],
  [
    '{"token_type":"hunter2","secretRestore":"file"}',
    '{"token_type":"[redacted]","secretRestore":"[redacted]"}',
  ],
  ['{"tokenStore":{"a":"file"},"x":1}', '{"tokenStore":"[redacted]","x":1}'],
  ['[{"name":"token_type","value":"file"}]', '[{"name":"token_type","value":"[redacted]"}]'],
  ['{"tokens":{"token_type":"file"}}', '{"tokens":"[redacted]"}'],
  ['"Bearer abc"', '"Bearer [redacted]"'],
  ['', ''],
])('%j', (text, shown) => {
  expect(redactJson(text, redactor).text).toBe(shown);
});

test('a line counts once, whatever is taken out of it, and each line of what is taken out', () => {
  const value = { a: ['Bearer x', 'Bearer y'], tokens: ['SECRET', 'SECRET'], end: 1 };
  const count = (text: string) => redactJson(text, redactor).redactedLines;
  expect(count(JSON.stringify(value))).toBe(1);
  expect(count(JSON.stringify(value, null, 2))).toBe(6);
  expect(count('{\n"a": "Bearer x", "tokens": [\n1], "b": "Bearer y"\n}')).toBe(2);
  expect(count('{}')).toBe(0);
});

test('a secret is none the less one for what its name ends with', () => {
  const secretNames = fc.constantFrom('token', 'secret', 'password', 'api_key', 'Authorization', 'cookie');
  const ends = fc.constantFrom('', '_store', 'Type', '-method', '.mode', 's', 'restore', 'Value');
  // As secrets are made: bytes as text.
  const secrets = fc.uint8Array({ minLength: 16, maxLength: 32 }).chain((bytes) => {
    const buffer = Buffer.from(bytes);
    return fc.constantFrom(buffer.toString('hex'), buffer.toString('base64url'), buffer.toString('base64'));
  });
  fc.assert(
    fc.property(secretNames, ends, secrets, (name, end, secret) => {
      expect(redactJson(JSON.stringify({ [name + end]: secret }), redactor).text).not.toContain(secret);
    }),
  );
});

test('strings of megabytes, and depths of thousands', () => {
  const texts = [
    JSON.stringify(['\n'.repeat(3_000_000), 'Bearer x']),
    `${'['.repeat(10_000)}"Bearer x"${']'.repeat(10_000)}`,
  ];
  for (const text of texts)
    expect(() => JSON.parse(redactJson(text, redactor).text) as unknown).not.toThrow();
});

describe('in a bundle', () => {
  const word = fc.constantFrom('a', 'token', '--password', 'tokens', 'key', 'value', 'x: |', 'cookie=1');
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(word, fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(word, tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  const shown = async (text: string) => {
    async function* lines() {
      yield* text.split('\n');
    }
    return (await tailOf(lines(), redactor, 1_000_000)).text;
  };

  test('what was JSON is JSON, printed on one line or on many', async () => {
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(0, 1, 2, '\t'), async (what, indentation) => {
        const text = JSON.stringify(what, null, indentation);
        const after = await shown(text);
        expect(() => JSON.parse(after) as unknown, after).not.toThrow();
        if (!/token|password|key|cookie/i.test(text)) expect(after).toBe(`${text}\n`);
      }),
    );
  });

  test('and so is each line of newline-delimited JSON, whatever the ones before it have', async () => {
    const line = fc.oneof(value, fc.constant({ text: '-----BEGIN PRIVATE KEY-----\nMHc' }));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1 }), async (what) => {
        const after = (await shown(what.map((each) => JSON.stringify(each)).join('\n')))
          .trimEnd()
          .split('\n');
        expect(after).toHaveLength(what.length);
        for (const each of after) expect(() => JSON.parse(each) as unknown, each).not.toThrow();
      }),
    );
  });

  test('lines of JSON among others are JSON, but where they belong to a secret', async () => {
    expect(await shown('start\n{"token":"a"}\ntokens:\n  {"a": "SECRET"}\nend {"token":"a"}')).toBe(
      'start\n{"token":"[redacted]"}\ntokens:\n[redacted]\nend {"token":[redacted]}\n',
    );
  });
});

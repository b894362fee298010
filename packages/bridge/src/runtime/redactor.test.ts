import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Redactor } from './redactor.ts';
import { secretsOf } from './secrets.ts';
import { useBench } from './testing/use-bench.ts';

const { startSession } = useBench();

function redact(secrets: readonly string[], chunks: readonly string[]): string {
  const redactor = new Redactor(secrets);
  const parts = chunks.map((chunk) => redactor.write(Buffer.from(chunk)));
  return Buffer.concat([...parts, redactor.end()]).toString();
}

test.each([
  ['whole', ['a-hunter22-b'], 'a-***-b'],
  ['in pieces', ['a-hun', 'te', 'r22-b'], 'a-***-b'],
  ['byte by byte', Array.from('xhunter22hunter22'), 'x******'],
  ['only begun', ['hunter2', '1'], 'hunter21'],
  ['only begun at the end', ['a-hunter2'], 'a-hunter2'],
  ['in a beginning of itself', ['hunthunter22'], 'hunt***'],
  ['as the beginning of a longer one', ['hunter22', '-long!'], '***!'],
])('a secret is replaced: %s', (_, chunks, expected) => {
  expect(redact(['hunter22', 'hunter22-long'], chunks)).toBe(expected);
});

test('what can be no secret any more goes out at once', () => {
  const redactor = new Redactor(['hunter22']);
  expect(redactor.write(Buffer.from('a hunt')).toString()).toBe('a ');
  expect(redactor.write(Buffer.from('s\n')).toString()).toBe('hunts\n');
});

test('however the bytes are cut into chunks, the same comes out, and no secret', () => {
  const letter = fc.constantFrom('a', 'b', 'ä', '\n');
  const text = (minLength: number, maxLength: number) =>
    fc.array(letter, { minLength, maxLength }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(fc.array(text(2, 5), { maxLength: 3 }), fc.array(text(0, 12)), (secrets, chunks) => {
      const whole = redact(secrets, [chunks.join('')]);
      expect(redact(secrets, chunks)).toBe(whole);
      const bytes = [...Buffer.from(chunks.join(''))];
      const redactor = new Redactor(secrets);
      const parts = bytes.map((byte) => redactor.write(Buffer.of(byte)));
      expect(Buffer.concat([...parts, redactor.end()]).toString()).toBe(whole);
      for (const secret of secrets) expect(whole).not.toContain(secret);
    }),
  );
});

test('secrets are what looks like one, in the forms in which it is printed', () => {
  const pem = '-----BEGIN KEY-----\nabcdefghijklmnopqrstuvwx\n-----END KEY-----\n';
  const secrets = secretsOf({
    API_TOKEN: 'say "hunter22"',
    SHORT_TOKEN: 'abc',
    HOME: '/home/me',
    LICENSE_KEY: import.meta.filename,
    DATABASE_URL: 'postgres://me:swordfish@db/app',
    SIGNING: pem,
    PLAIN: 'not secret at all',
  });
  for (const form of [
    'say "hunter22"',
    'say \\"hunter22\\"',
    'swordfish',
    'postgres://me:swordfish@db/app',
    pem,
    'abcdefghijklmnopqrstuvwx',
  ])
    expect(secrets).toContain(form);
  for (const text of ['abc', '/home/me', import.meta.filename, 'not secret at all', 'postgres'])
    expect(secrets).not.toContain(text);
});

test("a session's process does not print the secrets of the bridge's environment, passed on to it or not", async () => {
  const environment = { ...process.env, MY_TOKEN: 'say "hunter22"', OTHER_SECRET: 'swordfish' };
  const command = `echo "my $MY_TOKEN"; echo 'swordfish, too' >&2; printf '{"type":"note","text":"%s"}\\n' 'say \\"hunter22\\"'`;
  const { bench } = await startSession(command, { environment, envPass: ['MY_TOKEN'] });
  await bench.until('session.ended');
  expect(
    bench
      .of('session.output')
      .map(({ text }) => text)
      .sort(),
  ).toEqual(['***, too', 'my ***']);
  expect(bench.of('session.event').map(({ data }) => data)).toEqual([{ text: '***' }]);
});

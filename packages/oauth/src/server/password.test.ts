import { seededRandom } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { defaultOAuthConfig } from './config.ts';
import { createPasswords } from './password.ts';

const cheap = { logCost: 4, blockSize: 8, parallelization: 1, minLength: 10 };

test('a PHC string verifies its password, in any Unicode form, and no other', async () => {
  const passwords = createPasswords(seededRandom(), cheap);
  const hash = await passwords.hash('caf\u00e9 au lait');
  expect(hash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(await passwords.verify('cafe\u0301 au lait', hash)).toBe(true);
  expect(await passwords.verify('cafe au lait', hash)).toBe(false);
  expect(await passwords.hash('caf\u00e9 au lait')).not.toBe(hash);
});

test('a hash made at another cost still verifies; nobody has no password', async () => {
  const hash = await createPasswords(seededRandom(), { ...cheap, logCost: 5 }).hash('correct horse');
  const passwords = createPasswords(seededRandom(), cheap);
  expect(await passwords.verify('correct horse', hash)).toBe(true);
  expect(await passwords.verify('', null)).toBe(false);
});

test("the default cost fits in Node's memory limit", async () => {
  const passwords = createPasswords(seededRandom(), defaultOAuthConfig.password);
  expect(await passwords.verify('correct horse', await passwords.hash('correct horse'))).toBe(true);
});

test('beyond what may wait, sign-ins are refused at once, and the others end', async () => {
  const passwords = createPasswords(seededRandom(), cheap);
  const all = Array.from({ length: 70 }, () => passwords.verify('x', null));
  const outcomes = await Promise.allSettled(all);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(66);
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  expect(refused).toMatchObject(Array(4).fill({ code: 'overloaded' }));
  expect(await passwords.verify('x', null)).toBe(false);
});

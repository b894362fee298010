import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirmByName } from './confirm.ts';
import { describeFailure } from './failure.ts';

/** What becomes of the question where a person at a terminal types that. */
async function typed(keys: string) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const asking = confirmByName({ name: 'Old Team', what: 'This deletes it.', kind: 'name' }, input, output);
  input.write(keys);
  return asking.then(
    () => 'confirmed',
    (error: unknown) => describeFailure(error, {}),
  );
}

test('the name goes on, in any case; another one is wrong usage', async () => {
  expect(await typed('old team\r')).toBe('confirmed');
  expect(await typed('yes\r')).toEqual({
    message: 'That is not the name: nothing was done.',
    exitCode: 2,
  });
});

test.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('who leaves with %s has made no error, and nothing was done', async (_, keys) => {
  expect(await typed(keys)).toEqual({ message: 'Interrupted: nothing was done.', exitCode: 130 });
});

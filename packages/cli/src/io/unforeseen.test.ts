import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const main = join(import.meta.dirname, 'unforeseen.ts');

test.each([
  ['thrown later', "setTimeout(() => { throw new Error('', { cause: new Error('deeper') }); });", 'deeper'],
  ['rejected', "void Promise.reject(new Error('it broke'));", 'it broke'],
  ['no error', 'setTimeout(() => { throw { status: 7 }; });', '{"status":7}'],
])('what nobody caught is told in a sentence: %s', (_, act, reason) => {
  const script = `const { tellUnforeseen } = await import(${JSON.stringify(main)}); tellUnforeseen(['--json']); ${act}`;
  const args = ['-C', '@sallyport/source', '--input-type=module', '-e', script];
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, SALLYPORT_DEBUG: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  const message = `Something unexpected went wrong: ${reason}.`;
  expect(stderr).toBe(`error: ${message}\nRun it again with SALLYPORT_DEBUG=1 to see where.\n`);
  expect(JSON.parse(stdout)).toMatchObject({ error: 'internal_error', error_description: message });
  expect(status).toBe(1);
});

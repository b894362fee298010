import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testContext } from '../testing/context.ts';
import { page } from './pager.ts';

/** What goes out, and what the pager got, of a long text. */
async function paged(env: NodeJS.ProcessEnv, isForEyes = true) {
  const { context, text } = testContext();
  const shown = 'line\n'.repeat(100_000);
  await page({ ...context, terminal: { ...context.terminal, isForEyes }, env }, shown);
  return { out: text().stdout, shown };
}

test("on a terminal a text goes through the person's pager, with the options that git gives it", async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sallyport-pager-')), 'paged');
  const { out, shown } = await paged({ ...process.env, PAGER: `{ echo "$LESS"; cat; } > ${file}` });
  expect(out).toBe('');
  expect(readFileSync(file, 'utf8')).toBe(`FRX\n${shown}`);
});

test('a pager that is left before the end is no failure', async () => {
  expect((await paged({ ...process.env, PAGER: 'exit 0' })).out).toBe('');
});

test.each([
  ['it is no terminal', { PAGER: 'exit 0' }, false],
  ['there is no such pager', { PATH: '/nowhere' }, true],
  ['there is no such pager of that name', { PAGER: '/nowhere/pager 2>/dev/null' }, true],
  ['none is wanted', { PAGER: '' }, true],
  ['the terminal is a dumb one', { PAGER: 'exit 0', TERM: 'dumb' }, true],
])('a text goes out as it is where %s', async (_, env, isForEyes) => {
  const { out, shown } = await paged(env, isForEyes);
  expect(out).toBe(shown);
});

import type { PatchedChanges, UnknownChanges } from '@sallyport/bridge';
import { describe, expect, test, vi } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { showChanges, type ChangesView, type SessionChanges } from './changes-view.ts';

const patch = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+\tnew\r\n';

const changes = (shown: Partial<PatchedChanges> = {}): PatchedChanges => ({
  url: '.',
  branch: 'sallyport/s',
  base: 'c0',
  files: [
    { path: 'a', added: 1, removed: 1 },
    { path: 'lib/renamed', from: 'lib/before', added: 0, removed: 0 },
    { path: 'long', added: 300, removed: 100 },
  ],
  file_count: 3,
  added: 301,
  removed: 101,
  patch: Buffer.from(patch),
  patch_bytes: patch.length,
  ...shown,
});

interface Shown {
  readonly json?: boolean;
  readonly columns?: number;
  readonly from?: SessionChanges['from'];
}

/** What is shown of these sources. */
async function shown(
  sources: readonly (PatchedChanges | UnknownChanges)[],
  view: ChangesView = {},
  { json = false, columns = 0, from = 'log' }: Shown = {},
) {
  const { context, text } = testContext({ json, columns });
  const code = await showChanges({ ...context, env: { PAGER: '' } }, view, {
    session_id: 's',
    from,
    sources,
  });
  return { code, ...text() };
}

test('a patch goes out as it is, of all sources', async () => {
  const { code, stdout, stderr } = await shown([changes(), changes()]);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: patch + patch, stderr: '' });
});

test('on a terminal it has colours, and nothing in it steers the terminal', async () => {
  vi.stubEnv('FORCE_COLOR', '1');
  vi.stubEnv('NO_COLOR', undefined);
  const evil = `${patch}+\u001B]0;x\u0007 \u202E\n`;
  const { stdout } = await shown(
    [changes({ patch: Buffer.from(evil), patch_bytes: evil.length })],
    {},
    {
      columns: 80,
    },
  );
  expect(stdout.replaceAll(/\u001B\[\d+m/g, '')).toBe(`${patch.replace('\r', '')}+ ]0;x   \n`);
  expect(stdout).toContain('\u001B[32m+\tnew');
  expect(stdout).toContain('\u001B[31m-old');
});

test('two sources are told apart on a terminal', async () => {
  const { stdout } = await shown([changes(), changes({ url: 'https://example.com/lib' })], { stat: true });
  expect(stdout.match(/^\S.*$/gm)).toEqual(['. (sallyport/s)', 'https://example.com/lib (sallyport/s)']);
});

test('--stat has the lines of each file', async () => {
  const { stdout } = await shown([changes()], { stat: true });
  expect(stdout.split('\n')).toEqual([
    ' a                         |   2 +-',
    ' lib/before => lib/renamed |   0',
    ` long                      | 400 ${'+'.repeat(30)}${'-'.repeat(10)}`,
    ' 3 files changed, +301 -101',
    '',
  ]);
  const binary = changes({ files: [{ path: 'x' }], file_count: 1, added: 0, removed: 0 });
  expect((await shown([binary], { stat: true })).stdout).toBe(' x | Bin\n 1 file changed, +0 -0\n');
});

test('--name-only has the paths', async () => {
  expect(await shown([changes()], { nameOnly: true })).toEqual({
    code: 0,
    stdout: 'a\nlib/renamed\nlong\n',
    stderr: '',
  });
});

test('--json is one document with all of it', async () => {
  const error = { url: 'u', branch: 'b', base: 'c', error: 'no git' };
  const { code, stdout } = await shown([changes(), error], {}, { json: true });
  const { patch: _bytes, ...told } = changes();
  expect(JSON.parse(stdout)).toEqual({
    session_id: 's',
    from: 'log',
    sources: [{ ...told, text: patch }, error],
  });
  expect(code).toBe(1);
});

test('nothing is said to be nothing', async () => {
  const nothing = changes({
    files: [],
    file_count: 0,
    added: 0,
    removed: 0,
    patch: Buffer.of(),
    patch_bytes: 0,
  });
  expect(await shown([nothing, { ...nothing, withheld: true }])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Session s has changed nothing.\n',
  });
});

describe('what is not all is said, and is exit 1', () => {
  test.each([
    [
      'a cut patch',
      changes({ truncated: true }),
      /is cut after 5\d B.* 3 files, \+301 -101: sallyport session diff s --stat\n$/,
    ],
    ['a trimmed log', changes({ patch: Buffer.from('x\n') }), /has only 2 B of 5\d B: it was trimmed/],
    [
      'a patch that is kept back',
      changes({ patch: Buffer.of(), patch_bytes: 0, withheld: true }),
      /--changes files/,
    ],
    [
      'binary files',
      changes({ files: [{ path: 'x' }], file_count: 1 }),
      /no content of binary files; 1 differs\.$/m,
    ],
    ['secrets', changes({ redacted: true }), /may not apply/],
    [
      'a failure of git',
      { url: 'u', branch: 'b', base: 'c', error: 'no\u001Bgit' },
      /^What changed in u is not known: no git\n$/,
    ],
  ] as const)('%s', async (_, source, said) => {
    const { code, stderr } = await shown([source]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
    const isOfPatch = !('error' in source);
    expect((await shown([source], { stat: true })).code).toBe(isOfPatch ? 0 : 1);
  });

  test('a list of files that was cut', async () => {
    const { code, stdout, stderr } = await shown([changes({ file_count: 1000 })], { stat: true });
    expect([code, stderr]).toEqual([1, 'Of 1000 files that changed 3 are known by name.\n']);
    expect(stdout).toContain(' ... and 997 more\n 1000 files changed');
    expect((await shown([changes({ file_count: 1000 })])).code).toBe(0);
  });

  test('but not binary files of a worktree on this machine: they are in the patch', async () => {
    const binary = changes({ files: [{ path: 'x' }], file_count: 1 });
    expect((await shown([binary], {}, { from: 'worktree' })).code).toBe(0);
  });
});

test.each(['stat', 'nameOnly'] as const)('files may be as many as there are (%s)', async (view) => {
  const files = Array.from({ length: 200_000 }, (_, index) => ({ path: `f${index}`, added: 1, removed: 0 }));
  const { code, stdout } = await shown([changes({ files, file_count: files.length })], { [view]: true });
  expect([code, stdout.split('\n')[199_999]?.trim().split(' ')[0]]).toEqual([0, 'f199999']);
});

test('each name is a line for another program, whatever it is', async () => {
  const paths = ['a\nb', '--force', '"q"', 'back\\slash', '\u001B[2J', 'é f'];
  const { stdout } = await shown([changes({ files: paths.map((path) => ({ path })) })], { nameOnly: true });
  const names = stdout.trimEnd().split('\n');
  expect(names.map((name) => (name.startsWith('"') ? (JSON.parse(name) as string) : name))).toEqual(paths);
  expect(stdout).not.toContain('\u001B');
});

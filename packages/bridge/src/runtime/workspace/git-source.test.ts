import { describe, expect, test } from 'vitest';
import {
  parseGitSource,
  readSources,
  repositoryName,
  sameRepository,
  withoutCredentials,
} from './git-source.ts';

const read = (url: unknown, revision?: unknown) =>
  readSources([{ type: 'git_repository', url, revision }]).git;

describe('a source', () => {
  test.each([
    '.',
    '/srv/app.git',
    'https://example.com/team/app.git',
    'ssh://git@example.com:2222/team/app',
    'git@example.com:team/app.git',
    'file:///srv/app',
  ])('may be at %s', (url) => {
    expect(read(url, 'feature/x')).toEqual([{ url, revision: 'feature/x' }]);
    expect(read(url)).toEqual([{ url }]);
  });

  test.each([
    ['an option', '--upload-pack=touch /tmp/x'],
    ['an option of ssh', 'ssh://-oProxyCommand=touch/x'],
    ['an option of ssh, hidden', 'ssh://%2doProxyCommand=touch/x'],
    ['an option as a host', '-oProxyCommand=x:y'],
    ['a transport that runs commands', 'ext::sh -c "touch /tmp/x"'],
    ['a transport of another helper', 'fd::7'],
    ['a nameless transport', '::x'],
    ['an unknown scheme', 'javascript://example.com/x'],
    ['a relative path', '../secret'],
    ['nothing', ''],
    ['no text', 7],
    ['a line break', 'https://example.com/a\nb'],
    ['a password', 'https://me:hunter2@example.com/a'],
    ['a token', 'https://hunter2@example.com/a'],
    ['a password for ssh', 'ssh://me:hunter2@example.com/a'],
    ['too long', `https://example.com/${'a'.repeat(3000)}`],
  ])('is refused where its address is %s', (_, url) => {
    expect(() => read(url)).toThrow(
      expect.objectContaining({
        name: 'SourceError',
        message: expect.not.stringContaining('hunter2') as string,
      }),
    );
  });

  test.each([
    '--exec=x',
    'a b',
    'a..b',
    'a:b',
    'a^',
    'a~1',
    '@{-1}',
    'a\0b',
    '',
    'x.lock',
    7,
    'a*',
    'a'.repeat(300),
  ])('is refused where its revision is %s', (revision) => {
    expect(() => read('https://example.com/a', revision)).toThrow(/revision/);
  });

  test('of another kind is named, and is none of ours', () => {
    expect(
      readSources([{ type: 'archive' }, 7, { type: 'git_repository', url: '.', revision: null }]),
    ).toEqual({
      git: [{ url: '.' }],
      unknown: ['archive', 'no object'],
    });
    expect(readSources(undefined)).toEqual({ git: [], unknown: [] });
  });
});

test.each([
  ['https://example.com/a/b', 'https://example.com/a/b', undefined],
  ['https://example.com/a/b@main', 'https://example.com/a/b', 'main'],
  ['git@example.com:a/b', 'git@example.com:a/b', undefined],
  ['git@example.com:a/b@feature/x@2', 'git@example.com:a/b', 'feature/x@2'],
  ['ssh://git@example.com/a@v1', 'ssh://git@example.com/a', 'v1'],
  ['/srv/app@v1', '/srv/app', 'v1'],
  ['.', '.', undefined],
  ['.@main', '.', 'main'],
])('%s is an address and perhaps a revision', (text, url, revision) => {
  expect(parseGitSource(text)).toEqual({ url, ...(revision !== undefined && { revision }) });
});

test('a revision that is announced is needed', () => {
  expect(() => parseGitSource('https://example.com/a@')).toThrow('revision');
});

test('addresses of one repository are known as such', () => {
  const same = [
    'https://example.com/a/b.git',
    'git@example.com:a/b',
    'ssh://git@example.com/a/b/',
    'example.com:/a/b.git',
  ];
  for (const one of same) for (const other of same) expect(sameRepository(one, other)).toBe(true);
  expect(sameRepository('https://example.com/a/b', 'https://example.com/a/c')).toBe(false);
  expect(sameRepository('https://example.com/a/b', 'https://example.org/a/b')).toBe(false);
});

test('a repository has a name that may be a folder', () => {
  expect(repositoryName('git@example.com:team/app.git/')).toBe('app');
  expect(repositoryName('.')).toBe('repository');
  expect(repositoryName('https://example.com/..')).toBe('repository');
});

test('credentials are not shown', () => {
  expect(withoutCredentials("fatal: 'https://a:b@c/d' and ssh://x@y")).toBe(
    "fatal: 'https://***@c/d' and ssh://***@y",
  );
});

import { describe, expect, test } from 'vitest';
import { isRedirectUri, matchesRedirectUri, withParameters } from './redirect-uri.ts';

describe('a registered redirect URI', () => {
  test.each([
    'https://app.example/cb',
    'https://app.example/cb?tenant=1',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/callback',
    'http://localhost',
    'com.example.app:/cb',
  ])('may be %s', (uri) => expect(isRedirectUri(uri)).toBe(true));

  test.each([
    'http://app.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:80@evil.example/cb',
    'https://user@app.example/cb',
    'https://user:pass@app.example/cb',
    'https://app.example/cb#fragment',
    'https://app.example/a b',
    'https://app.example\\@evil.example/',
    'https://app.example/\r\nset-cookie: a=b',
    'javascript:alert(1)',
    'data:text/html,x',
    'app:/cb',
    '/callback',
    '',
  ])('may not be %j', (uri) => expect(isRedirectUri(uri)).toBe(false));
});

describe('a requested redirect URI', () => {
  const registered = ['http://localhost/callback', 'https://app.example/cb'];

  test.each(['https://app.example/cb', 'http://localhost/callback', 'http://localhost:53219/callback'])(
    'matches as %s',
    (uri) => expect(matchesRedirectUri(registered, uri)).toBe(true),
  );

  // coder#29013, better-auth#10937, CVE-2026-3872 and its kind
  test.each([
    'http://127.0.0.1:53219/callback',
    'http://[::1]:53219/callback',
    'https://localhost:53219/callback',
    'https://app.example:8443/cb',
    'https://app.example/cb/',
    'https://APP.example/cb',
    'https://app.example/CB',
    'https://app.example/cb?x=1',
    'https://app.example/cb#f',
    'https://app.example/x/../cb',
    'https://app.example/%63b',
    'http://localhost/callback/',
    'http://localhost/callback?x=1',
    'http://localhost/callback#f',
    'http://localhost/x/..;/callback',
    'http://localhost/%2e%2e/callback',
    'http://LOCALHOST/callback',
    'http://localhost:80@evil.example/callback',
    'http://user@localhost:80/callback',
    'http://localhost.evil.example/callback',
    'http://localhost:/callback',
    'http://localhost:65536/callback',
    'http://localhost:8\n0/callback',
    'http://localhost\\evil.example/callback',
  ])('does not match as %j', (uri) => expect(matchesRedirectUri(registered, uri)).toBe(false));
});

test('parameters join the query that the URI has, and decode to the same bytes', () => {
  const uri = withParameters('https://app.example/cb?a=1', { state: 'x y+&=%\r\n"é', none: undefined });
  expect(uri.startsWith('https://app.example/cb?a=1&state=')).toBe(true);
  expect(uri).toMatch(/^[!-~]+$/);
  expect([...new URL(uri).searchParams]).toEqual([
    ['a', '1'],
    ['state', 'x y+&=%\r\n"é'],
  ]);
  expect(withParameters('https://app.example/cb', { code: 'c' })).toBe('https://app.example/cb?code=c');
});

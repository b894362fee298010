import { neutralDialect } from '@sallyport/core';
import { endpoints, families, familyTimeoutMs } from '@sallyport/core/contract';
import { describe, expect, test } from 'vitest';
import { headers, members } from './fields.ts';
import { targetOf, timeoutOf } from './target.ts';

const none = { params: {}, query: {}, hasBody: false };
const at = (baseUrl: string, words: readonly string[], more = {}) =>
  targetOf(words, { baseUrl, dialect: neutralDialect }, { ...none, ...more });
const host = 'https://gate.example';

describe('what is called', () => {
  test.each([
    [['sessions.list'], {}, 'GET', '/v1/sessions', 'sessions.list'],
    [['sessions.get'], { params: { id: 'a/b?c' } }, 'GET', '/v1/sessions/a%2Fb%3Fc', 'sessions.get'],
    [['get', '/v1/sessions'], { query: { limit: '1' } }, 'GET', '/v1/sessions?limit=1', 'sessions.list'],
    [['POST', '/v1/sessions'], {}, 'POST', '/v1/sessions', 'sessions.create'],
    [['/v1/sessions'], { hasBody: true }, 'POST', '/v1/sessions', 'sessions.create'],
    [['GET', '/v1/sessions/{id}'], { params: { id: 's' } }, 'GET', '/v1/sessions/s', 'sessions.get'],
    [['GET', `${host}/v1/sessions`], {}, 'GET', '/v1/sessions', 'sessions.list'],
    [['POST', '/v1/environments/bridge'], {}, 'POST', '/v1/environments/bridge', 'bridge.register'],
    [['GET', '/v2/news?a=1'], { query: { b: '2' } }, 'GET', '/v2/news?a=1&b=2', undefined],
    [['GET', '//evil.example/v1'], {}, 'GET', '//evil.example/v1', undefined],
  ])('%j', (words, more, method, path, id) => {
    for (const prefix of ['', '/team']) {
      const given = words.map((word) => word.replace(host, host + prefix));
      const { endpoint, ...target } = at(host + prefix, given, more);
      expect(target).toEqual({ method, url: host + prefix + path, isSocket: false });
      expect(endpoint?.id).toBe(id);
    }
  });

  test.each([
    [['sesions.get'], {}, 'There is no endpoint "sesions.get". Did you mean sessions.get?'],
    [['sessions.get'], {}, 'The path needs --param id=VALUE: /v1/sessions/{id}'],
    [['sessions.list'], { params: { id: '1' } }, 'The path has no {id}: /v1/sessions'],
    [['G ET', '/v1/sessions'], {}, '"G ET" is no method.'],
    [['GET', '/a', '/b'], {}, 'What is called is an endpoint, or METHOD PATH.'],
    [[], {}, 'What is called is an endpoint, or METHOD PATH.'],
  ])('%j is wrong usage', (words, more, message) => {
    expect(() => at(host, words, more)).toThrow(message);
  });
});

test.each([
  [['WS', '/v2/news'], true],
  [['ws', '/v1/sessions'], true],
  [['/api/ws/voice'], true],
  [['GET', '/api/ws/voice/one?a=1'], true],
  [['GET', '/v1/environments/e/bridge/ws'], true],
  [['POST', '/api/ws/voice/one'], false],
  [['/api/ws/voices'], false],
])('%j is a WebSocket: %s', (words, isSocket) => {
  expect(at(`${host}/team`, words)).toMatchObject({ isSocket });
});

test('a family may take as long as its client gives it, a row as long as its limit', () => {
  for (const { prefix } of families)
    expect(timeoutOf(at(host, ['POST', `${prefix}/x`]).endpoint)).toBe(familyTimeoutMs);
  expect(timeoutOf(at(host, ['oauth.profile']).endpoint)).toBe(3_000);
  expect(timeoutOf(at(host, ['sessions.list']).endpoint)).toBe(30_000);
});

// A login is for one address, prefix included: its token goes nowhere else.
test('a row is called, and a path is known, in the dialect', () => {
  const gateway = { baseUrl: host, dialect: { vendor: 'acme', agent: 'robot' } };
  const row = endpoints.find(({ path }) => /\b(vendor|agent)[-_]/.test(path) && !path.includes('{'));
  const called = targetOf([row!.id], gateway, none);
  expect(called.url).toMatch(/acme|robot/);
  expect(targetOf([row!.method, new URL(called.url).pathname], gateway, none).endpoint?.id).toBe(row!.id);
});

test.each([
  'https://evil.example/team/v1',
  'http://gate.example/team/v1',
  'https://gate.example:444/team/v1',
  'https://me@gate.example/team/v1',
  'https://gate.example/v1/sessions',
  'https://gate.example/teams/v1',
  '@evil.example/v1',
  'evil.example',
  'file:///etc/passwd',
  '/../v1/sessions',
  '/%2e%2e/v1/sessions',
  '/..\\v1',
])('%s is not below the address of the login', (path) => {
  expect(() => at(`${host}/team`, ['GET', path])).toThrow(/is not below https:\/\/gate\.example\/team/);
});

test.each([
  [() => members('--query', ['limit']), '--query "limit" is not NAME=VALUE.'],
  [() => members('--param', ['=x']), '--param "" is not NAME=VALUE.'],
  [() => headers(['x y: secret']), '--header "x y" is not NAME:VALUE.'],
  [() => headers(['x: a\r\nb: c']), '--header "x" is not NAME:VALUE.'],
])('a field that is none is refused without its value', (read, message) => {
  expect(read).toThrow(message);
});

test('fields keep what stands behind the first sign', () => {
  expect(members('--query', ['a=b=c', 'd='])).toEqual({ a: 'b=c', d: '' });
  expect(headers(['X-Time: 10:30'])).toEqual({ 'x-time': '10:30' });
});

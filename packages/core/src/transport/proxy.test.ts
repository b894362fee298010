import { expect, test } from 'vitest';
import { environmentProxy, hasEnvironmentProxy } from './proxy.ts';

const proxy = 'http://proxy:3128';

test.each([
  ['https://a.example/x', { HTTPS_PROXY: proxy }, proxy],
  ['https://a.example', { http_proxy: proxy, HTTPS_PROXY: '' }, proxy],
  ['http://a.example', { HTTPS_PROXY: proxy }, undefined],
  ['https://a.example', {}, undefined],
  ['https://a.example', { HTTPS_PROXY: proxy, https_proxy: 'http://lower' }, 'http://lower'],
  ['https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
  ['https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: 'b.example, .example' }, undefined],
  ['https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: '*.a.example' }, proxy],
  ['https://b.a.example', { HTTPS_PROXY: proxy, NO_PROXY: 'A.example' }, undefined],
  ['https://ba.example', { HTTPS_PROXY: proxy, NO_PROXY: 'a.example' }, proxy],
  ['https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: 'a.example:8443' }, proxy],
  ['https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: 'a.example:443' }, undefined],
  ['http://[::1]:8787', { HTTP_PROXY: proxy, NO_PROXY: '::1' }, undefined],
  ['http://[::1]:8787', { HTTP_PROXY: proxy, NO_PROXY: '[::1]:8787' }, undefined],
])('%s with %o goes through %s', (url, env: NodeJS.ProcessEnv, expected) => {
  expect(environmentProxy(url, env)).toBe(expected);
});

test.each([
  [{}, false],
  [{ http_proxy: '', HTTP_PROXY: proxy, NO_PROXY: '*' }, false],
  [{ HTTP_PROXY: proxy }, true],
  [{ https_proxy: proxy }, true],
])('%o may have one: %s', (env: NodeJS.ProcessEnv, expected) => {
  expect(hasEnvironmentProxy(env)).toBe(expected);
});

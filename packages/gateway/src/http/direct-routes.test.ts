import fc from 'fast-check';
import fastify from 'fastify';
import { neutralDialect } from '@sallyport/core';
import { endpoints, families } from '@sallyport/core/contract';
import { describe, expect, test } from 'vitest';
import { DirectRoutes, type Direct } from './direct-routes.ts';
import { routePath } from './paths.ts';

const own = ['/', '/a', '/a/:id', '/a/b', '/a/b/:id/c', '/a/:id/c', '/a/*', '/ab', '/:any/x', '/*'];
const patterns = [
  ...own,
  ...new Set(endpoints.map((endpoint) => routePath(endpoint, neutralDialect))),
  ...families.flatMap(({ prefix }) => [prefix, `${prefix}/*`]),
].filter((pattern, i, all) => all.indexOf(pattern) === i);

const routes = new DirectRoutes();
const byDirect = new Map<Direct, string>();
const app = fastify();
for (const url of patterns) {
  const direct: Direct = () => undefined;
  byDirect.set(direct, url);
  routes.add('GET', url, direct);
  app.get(url, (_request, reply) => reply.send(url));
}

const name = fc.constantFrom(
  'a',
  'b',
  'ab',
  'c',
  'x',
  'v1',
  'sessions',
  'models',
  'files',
  'worker',
  'one',
  '',
  '.',
  'b-c',
);
const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => `/${names.join('/')}`);

describe('a path', () => {
  test('comes to the same route as with Fastify, or to none here', async () => {
    const fromPatterns = fc.constantFrom(...patterns).map((pattern) => pattern.replace(/:\w+|\*/g, 'some'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(path, fromPatterns), async (url) => {
        const direct = routes.find('GET', url);
        if (direct === undefined) return;
        expect(byDirect.get(direct)).toBe((await app.inject({ url })).body);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '/a/b%2Fc',
    '/a//b',
    '/a/./b',
    '/a/',
    '/a/b;c',
    '/a/é',
    '/a/b#c',
    'http://x/a',
    '*',
    `/a/${'b'.repeat(3000)}`,
  ])('that a router may read in another way is left to Fastify: %s', (odd) =>
    expect(routes.find('GET', odd)).toBeUndefined(),
  );
});

test('a route that is not direct hides what is', () => {
  const hiding = new DirectRoutes();
  hiding.add('GET', '/v1/*', () => undefined);
  hiding.add('GET', '/v1/here', undefined);
  expect(hiding.find('GET', '/v1/there')).toBeDefined();
  expect(hiding.find('GET', '/v1/here')).toBeUndefined();
  expect(hiding.find('POST', '/v1/there')).toBeUndefined();
});

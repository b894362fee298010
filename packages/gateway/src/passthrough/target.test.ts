import fc from 'fast-check';
import { expect, test } from 'vitest';
import { targetOf } from './target.ts';

test('no target that is let pass leads out of its place, however an upstream decodes and resolves it', () => {
  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '%2e',
    '%2E',
    '%2f',
    '%5c',
    '%25',
    '2e',
    ';',
    'a',
    'files',
    '?',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const url = `/v1/files/${pieces.join('')}`;
      let target: string;
      try {
        target = targetOf(url, true);
      } catch {
        return;
      }
      expect(target).toBe(url);
      let path = target.split('?')[0] ?? '';
      for (let round = 0; round < 3; round++) {
        expect(new URL(path, 'http://upstream.example').pathname).toMatch(/^\/v1\/files/);
        expect(new URL(path, 'http://upstream.example').host).toBe('upstream.example');
        try {
          path = decodeURIComponent(path);
        } catch {
          return;
        }
      }
    }),
    { numRuns: 5_000 },
  );
});

test('in a row a slash in disguise is refused, however often it is encoded; within a family it is the upstream’s', () => {
  for (const slash of ['%2f', '%2F', '%252f', '%25252F', '%5c', '\\']) {
    const url = `/v1/environments/e${slash}work${slash}poll`;
    expect(() => targetOf(url, false)).toThrow('must name its place outright');
    expect(targetOf(url, true)).toBe(url);
  }
  for (const url of [
    '/v1/environments/e%20a',
    '/v1/environments/e?a=%2f',
    '/v1/environments/100%',
    '/v1/environments/a;b',
  ])
    expect(targetOf(url, false)).toBe(url);
});

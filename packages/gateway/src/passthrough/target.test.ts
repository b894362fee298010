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
        target = targetOf(url);
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

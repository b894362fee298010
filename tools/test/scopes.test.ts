import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { roles } from '@sallyport/core/organization';
import { apiKeyScopes, scopeMeanings } from '@sallyport/core/scopes';
import { expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../docs/administration.md'), 'utf8');

test('docs/administration.md has every scope with what it lets a program do', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` *\| ([^|`]+?) *\| (yes|no) *\|$/gm)];
  expect(Object.fromEntries(rows.map(([, scope, meaning]) => [scope, meaning]))).toEqual(scopeMeanings);
  const ofKeys = rows.flatMap(([, scope, , isOfKeys]) => (isOfKeys === 'yes' ? scope : []));
  expect(ofKeys).toEqual(apiKeyScopes);
});

test('docs/administration.md has every role', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` *\| `read/gm)];
  expect(rows.map(([, role]) => role)).toEqual(roles);
});

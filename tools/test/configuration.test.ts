import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configurationPath, renderConfiguration } from '../generate/configuration.ts';

test('docs/configuration.md is what the schema of the configuration says', () => {
  expect(
    readFileSync(configurationPath, 'utf8'),
    'node -C @sallyport/source tools/generate/configuration.ts',
  ).toBe(renderConfiguration());
});

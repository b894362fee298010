import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderStates, statesPath } from '../generate/state-diagram.ts';

test('docs/states.md is what the table of states says', () => {
  expect(readFileSync(statesPath, 'utf8'), 'node -C @sallyport/source tools/generate/state-diagram.ts').toBe(
    renderStates(),
  );
});

import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { UnhandledErrors } from './tools/test/unhandled.mjs';

// The programs and threads that tests start by the hundred read their sources as they were compiled before.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.nx/compiled');

// Tests run against sources: without the condition in both places vitest would resolve stale `dist`. Not `import`, which is
// there anyway: said here, it would hold for `require` too, and a CommonJS package would get its dependency's other half.
const conditions = ['@sallyport/source', 'node', 'module', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // What needs real minutes has a command of its own: `npm run test:long`.
    include: [process.env['SALLYPORT_LONG_TESTS'] ? 'long/**/*.test.ts' : '{src,test,e2e}/**/*.test.ts'],
    passWithNoTests: false,
    reporters: ['default', ['json', { outputFile: 'test-results/vitest.json' }], new UnhandledErrors()],
    // Many start programs, which takes as long as the machine has others to run: these end what stands still, no more.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});

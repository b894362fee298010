import { defineConfig } from 'vitest/config';

// Tests run against sources: without the condition in both places vitest would resolve stale `dist`.
const conditions = ['@sallyport/source', 'node', 'import', 'module', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{src,test,e2e}/**/*.test.ts'],
    passWithNoTests: false,
    testTimeout: 20_000,
  },
});

import { readdirSync, readFileSync } from 'node:fs';
import nx from '@nx/eslint-plugin';
import jsoncParser from 'jsonc-eslint-parser';
import tseslint from 'typescript-eslint';
import { promisesInTurn } from './tools/lint/promises-in-turn.mjs';

/** Every specifier that a package's `exports` offers, e.g. `@sallyport/core/client`. */
const doors = readdirSync(new URL('packages/', import.meta.url)).flatMap((folder) => {
  const manifest = readFileSync(new URL(`packages/${folder}/package.json`, import.meta.url), 'utf8');
  const { name, exports } = JSON.parse(manifest);
  return Object.keys(exports).map((door) => name + door.slice(1));
});

/** @param {string[]} specifiers @param {string} message */
const onlyThese = (specifiers, message) => ({
  regex: `^@sallyport/(?!(?:${specifiers.map((door) => door.slice('@sallyport/'.length)).join('|')})$)`,
  message,
});
const pastTheDoor = onlyThese(doors, "Import a package through a door that its package.json's exports name.");
const testDoor = {
  regex: '^@sallyport/[^/]+/testing$',
  message: 'A testing door is for tests; inject the real thing here.',
};
const withoutExtension = {
  regex: '^\\.{1,2}/(?!bundle/|.*\\.(?:ts|mjs|json)$)',
  message: 'A relative import names the file, with its .ts extension.',
};
const serverHalf = {
  regex: '^(?:\\.\\./)+server/',
  message: "The halves of a domain never import each other: what both need has a folder beside the server's.",
};

const namedExports = [
  { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
  { selector: 'ExportAllDeclaration', message: 'Re-export by name, so that a door shows what it offers.' },
];

export default tseslint.config(
  { ignores: ['**/dist', '**/bundle', '**/out-tsc', '**/test-results', '**/coverage'] },
  // A rule that should not hold is changed here, where a review sees it, never in a comment.
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },
  { plugins: { '@nx': nx } },
  {
    files: ['**/*.{ts,js,mjs}'],
    extends: [tseslint.configs.strict],
    languageOptions: { parserOptions: { tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          banTransitiveDependencies: true,
          // A package may be loaded late in one place and named, for its types, in another.
          checkDynamicDependenciesExceptions: ['.*'],
          depConstraints: [
            { sourceTag: 'layer:core', onlyDependOnLibsWithTags: [] },
            { sourceTag: 'layer:domain', onlyDependOnLibsWithTags: ['layer:core'] },
            { sourceTag: 'layer:app', onlyDependOnLibsWithTags: ['layer:core', 'layer:domain'] },
            {
              sourceTag: 'layer:tools',
              onlyDependOnLibsWithTags: ['layer:core', 'layer:domain', 'layer:app', 'layer:tools'],
            },
          ],
        },
      ],
      'no-restricted-imports': ['error', { patterns: [pastTheDoor, withoutExtension, testDoor, serverHalf] }],
      'no-restricted-syntax': ['error', ...namedExports],
      'max-lines': ['error', { max: 400 }],
      eqeqeq: 'error',
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeCheckedOnly],
    plugins: { sallyport: { rules: { 'promises-in-turn': promisesInTurn } } },
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // In-memory adapters implement asynchronous ports without waiting for anything.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      'sallyport/promises-in-turn': 'error',
      // Handing on the nothing that a callback returns reads well.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `while (true)` says best what a poller does.
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
    },
  },
  {
    files: ['packages/gateway/test/**/*.ts'],
    rules: {
      // openid-client marks by it what only servers on this machine are for.
      '@typescript-eslint/no-deprecated': [
        'error',
        { allow: [{ from: 'package', package: 'openid-client', name: 'allowInsecureRequests' }] },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/{test,testing,e2e}/**'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [pastTheDoor, withoutExtension] }],
      'max-lines': 'off',
      // A test asserts by failing: an index out of range throws, and that is the message wanted.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // A benchmark ships no more than a test does.
    files: ['tools/bench/**/*.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [pastTheDoor, withoutExtension] }] },
  },
  {
    // Tools that are configured by a default export.
    files: ['packages/*/*.config.mjs'],
    rules: { 'no-restricted-syntax': ['error', namedExports[1]] },
  },
  {
    // A benchmark measures what no door offers.
    files: ['tools/bench/**'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    files: ['packages/*/package.json'],
    languageOptions: { parser: jsoncParser },
    rules: {
      '@nx/dependency-checks': [
        'error',
        { buildTargets: ['build'], ignoredFiles: ['{projectRoot}/**/*.test.ts', '{projectRoot}/test/**'] },
      ],
    },
  },
);

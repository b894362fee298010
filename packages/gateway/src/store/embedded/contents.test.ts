import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// Each start of the gateway, and each command of an administrator, waits for it.
test("the writer's thread loads the judgements of acts, and neither the contract nor the schemas", () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { console.log(url); return next(url, context); } });
    await import(${JSON.stringify(join(import.meta.dirname, 'contents.ts'))});`;
  const loaded = execFileSync(
    process.execPath,
    ['-C', '@sallyport/source', '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  expect(loaded).toContain('/oauth/src/server/family.ts');
  expect(loaded.split('\n').filter((url) => /\/core\/src\/(contract|schemas)\/|\/zod\//.test(url))).toEqual(
    [],
  );
});

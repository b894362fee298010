import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** The packages that were loaded when the command line is done with `argv`. */
function loaded(argv: readonly string[]): string[] {
  const script = `
    import { registerHooks } from 'node:module';
    const packages = new Set();
    registerHooks({ load(url, context, next) { packages.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)|packages\\/([^/]+)/.exec(url)?.slice(1).find(Boolean)); return next(url, context); } });
    const { runProgram } = await import(${JSON.stringify(join(import.meta.dirname, 'program.ts'))});
    process.stdout.write = () => true;
    await runProgram(${JSON.stringify(argv)});
    process.stderr.write(JSON.stringify([...packages].filter(Boolean)));`;
  const { stderr } = execute(['-C', '@sallyport/source', '--input-type=module', '-e', script]);
  return (JSON.parse(stderr) as string[]).sort();
}

function execute(args: readonly string[]): { stderr: string } {
  const stderr = execFileSync('sh', ['-c', 'exec "$0" "$@" 2>&1 >/dev/null', process.execPath, ...args], {
    encoding: 'utf8',
  });
  return { stderr };
}

// What everybody waits for at each call; a budget in milliseconds would be the machine's, not ours.
test.each([
  ['--version'],
  ['--help'],
  ['session', 'run', '--help'],
  ['__complete', '--', 'session', 'run', '--'],
  ['completion', 'bash'],
  ['config', 'list'],
])('%s loads commander and nothing heavy', (...argv) => {
  const packages = loaded(argv);
  expect(packages).toContain('commander');
  expect(
    packages.filter(
      (name) => !['commander', 'cli', 'core', 'ulid', 'env-paths', 'is-safe-filename'].includes(name),
    ),
  ).toEqual([]);
});

test('a reader that has seen enough is no failure, of help either', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const piped = `exec 3>&1; { "$0" -C @sallyport/source "$1" session run --help 2>&3; echo "exit $?" >&3; } | true`;
  // Whether the reader is gone before the first write is chance: one of several tries is.
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(execFileSync('sh', ['-c', piped, process.execPath, main], { encoding: 'utf8' })).toBe('exit 0\n');
});

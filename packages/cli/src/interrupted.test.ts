import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createProgram, runProgram } from './program.ts';
import { startService, type Answering, type Service } from './testing/service.ts';

const profile = {
  account: { uuid: 'acc_1', email: 'ann@example.com' },
  organization: { uuid: '0b6f7a52-8d5e-4b5e-9d3f-000000000001', name: 'Acme' },
};
const answersNothing: Answering = () => undefined;
const answering: Record<string, Answering> = {
  'answers nothing': answersNothing,
  'answers who one is, and nothing else': ({ url }) =>
    url.endsWith('/oauth/profile') ? { body: profile } : undefined,
};

/** Commands that end in their own way, or ask nobody. */
const others =
  /^(login|logout|token|completion|__complete|bridge|config|profile|device trust|telemetry (on|off|status|show))\b|\bhelp$/;

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];
const commands = leaves(createProgram(() => undefined)).filter(
  (command) => !others.test(pathOf(command).join(' ')),
);

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-interrupted-'));
  vi.stubEnv('SALLYPORT_CONFIG_DIR', directory);
  vi.stubEnv('SALLYPORT_TOKEN', 'secret');
  vi.stubEnv('DO_NOT_TRACK', '1');
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

/** What a command line needs to get as far as to ask the service. */
function lineOf(command: Command): string[] {
  const given: Record<string, string[]> = {
    api: ['/v1/models'],
    feedback: ['It breaks.', '--yes'],
    update: ['env_1', '--name=x'],
    approve: ['session_1', '--allow'],
    role: ['ann@example.com', 'viewer'],
    set: ['name', '5'],
  };
  const needed = command.registeredArguments.filter(({ required }) => required).map(() => 'session_1');
  const mandatory = command.options.filter((each) => each.mandatory).map((each) => `${each.long}=x`);
  const yes = command.options.some(({ long }) => long === '--yes') ? ['--yes'] : [];
  return [...pathOf(command), ...(given[command.name()] ?? [...needed, ...mandatory, ...yes])];
}

describe.each(Object.entries(answering))('while the service %s', (_name, answer) => {
  let service: Service;
  let asked = 0;
  beforeAll(async () => {
    service = await startService((seen, response) => {
      const told = answer(seen, response);
      if (told === undefined && ++asked === 1) process.emit('SIGINT');
      return told;
    });
    vi.stubEnv('SALLYPORT_BASE_URL', service.baseUrl);
  });
  afterAll(() => service.close());

  const asking = commands.filter((command) => command.name() !== 'whoami' || answer === answersNothing);
  test.each(asking.map((command) => [pathOf(command).join(' '), command] as const))(
    'Ctrl-C ends %s at once',
    async (_path, command) => {
      asked = 0;
      const exitCode = await runProgram(lineOf(command));
      expect([asked > 0, exitCode]).toEqual([true, 130]);
    },
  );
});

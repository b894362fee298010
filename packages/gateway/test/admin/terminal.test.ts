import { scopes } from '@sallyport/core/scopes';
import { expect, onTestFinished, test } from 'vitest';
import { createProgram } from '../../src/program.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand } from './command.ts';

/** A person looks at standard output. */
function atTerminal(): void {
  const before = process.stdout.isTTY;
  process.stdout.isTTY = true;
  onTestFinished(() => void (process.stdout.isTTY = before));
}

test('a person sees tables and sentences, programs the same JSON as ever', async () => {
  const dataDir = scratchDirectory();
  const shown = async (...args: string[]) => {
    const { stdout, failed } = await adminCommand(dataDir, ...args);
    expect(failed).toBe(undefined);
    return stdout;
  };
  const added = JSON.parse(await shown('user', 'add', 'ann@example.com', '--role', 'viewer')) as object;
  expect(added).toMatchObject({
    email: 'ann@example.com',
    has_password: false,
    memberships: [{ role: 'viewer', organization: { name: 'Default' } }],
  });
  atTerminal();
  expect(await shown('user', 'add', 'bob@example.com')).toBe(
    'bob@example.com is added: member in Default.\n',
  );
  expect(await shown('user', 'list')).toMatch(
    /^EMAIL +PASSWORD +ROLES .*\nowner@localhost +not set +admin in Default .*\nann@example.com +not set +viewer in Default +\d{4}-\d\d-\d\d +[\w-]{36}\nbob/,
  );
  expect(JSON.parse(await shown('user', 'list', '--json'))).toContainEqual(added);
  expect(await shown('user', 'password', 'bob@example.com')).toMatch(/^Give them this link.*\nhttp:\S+\n$/);
  expect(await shown('user', 'unlock', 'bob@example.com')).toMatch(
    /^bob@example.com was not locked out\.\n.* --action network\.lock --data-dir \S+` says when\.\n$/,
  );
  expect(await shown('org', 'list')).toMatch(
    /^NAME .*\nDefault +agent_team +default +agent_code +yes +\S{36}\n$/,
  );
  expect(await shown('org', 'settings', 'list', 'default')).toBe('It has no settings.\n');
  expect(await shown('org', 'settings', 'set', 'Default', 'model', '"large"')).toBe(
    'SETTING  VALUE\nmodel    "large"\n',
  );
  expect(await shown('feedback', 'list')).toBe('There is no feedback.\n');
});

test('an audit line says whose it is where there are several organizations, and one is asked for alone', async () => {
  const dataDir = scratchDirectory();
  const lines = async (...options: string[]) =>
    (await adminCommand(dataDir, 'audit', '--action', 'account.add', ...options)).stdout;
  await adminCommand(dataDir, 'user', 'add', 'ann@example.com');
  atTerminal();
  expect(await lines()).toMatch(/ {2}of ann@example\.com {2}role member\n$/);
  await adminCommand(dataDir, 'org', 'add', 'Old Team');
  await adminCommand(dataDir, 'user', 'add', 'bob@example.com', '--org', 'old team');
  expect(await lines()).toMatch(
    /bob@example\.com {2}in Old Team {2}role.*\n.*ann@example\.com {2}in Default {2}role/,
  );
  expect(await lines('--org', 'old team')).toMatch(
    /^\S+ {2}account\.add .* {2}of bob@example\.com {2}role member\n$/,
  );
  expect(await lines('--org', 'Default')).toMatch(/^.* {2}of ann@example\.com {2}role member\n$/);
  const { failed } = await adminCommand(dataDir, 'audit', '--org', 'Odl Team');
  expect(failed).toEqual([1, expect.stringContaining('no organization with the id or the name Odl Team')]);
  await adminCommand(dataDir, 'org', 'delete', 'Old Team', '--yes');
  expect(await lines()).toMatch(/bob@example\.com {2}in [\w-]{36} {2}role/);
});

type Program = ReturnType<typeof createProgram>;
const within = (command: Program): readonly Program[] => [command, ...command.commands.flatMap(within)];

test('help has what is the command itself has first, and of the settings those that it can use', () => {
  const admin = createProgram().commands.find((command) => command.name() === 'admin');
  const commands =
    admin === undefined ? [] : within(admin).filter(({ commands: { length } }) => length === 0);
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    const help = command.helpInformation();
    const [own = '', settings = ''] = help.split('\nSettings:\n');
    expect(own, help).not.toMatch(/--data-dir|--port/);
    expect(settings, help).toContain('--data-dir');
    expect(settings, help).not.toMatch(/--port|--log-level|--help/);
  }
});

test('the help of a client has every scope', () => {
  let help = '';
  const client = createProgram()
    .commands.find((command) => command.name() === 'admin')
    ?.commands.find((command) => command.name() === 'client')
    ?.commands.find((command) => command.name() === 'add');
  client?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  for (const scope of scopes) expect(help).toMatch(new RegExp(`^  ${scope} `, 'm'));
});

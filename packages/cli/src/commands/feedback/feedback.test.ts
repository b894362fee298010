import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { createRedactor } from '@sallyport/telemetry';
import { buildBundle } from '@sallyport/telemetry/feedback';
import { readZip } from '@sallyport/telemetry/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../connect.ts';
import { runCli } from '../../testing/cli.ts';
import { testContext } from '../../testing/context.ts';
import { environmentAt, startService, type Answer, type Service } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';
import { collectSources } from './collect.ts';
import { feedback } from './feedback.ts';

const mine = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
let cwd: string;
let service: Service;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-feedback-'));
  service = await startService({});
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

test.each(['--bundle', '--file'])('%s must name a file that exists; else nothing is sent', async (option) => {
  const answer = await runCli(['feedback', 'it broke', option, 'typo.zip', '--yes'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(answer).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/^error: There is no file typo\.zip\.\n/) as string,
  });
  expect(service.seen).toEqual([]);
});

test.each([
  ['one that is too long', ['x'.repeat(20_001)], 'The description must not have more than 20000 characters.'],
  ['a bundle that is no ZIP', ['it', 'broke', '--bundle', 'notes.txt'], 'The bundle is not a ZIP file.'],
])('what the service would refuse is told at once: %s', async (_, args, message) => {
  writeFileSync(join(cwd, 'notes.txt'), 'text');
  const { exitCode, stderr } = await runCli(['feedback', ...args, '--yes'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(stderr).toMatch(new RegExp(`^error: ${message}\n`));
  expect(stderr).not.toContain('kept');
  expect(exitCode).toBe(1);
  expect(service.seen).toEqual([]);
});

test('a pipe is no bundle: it could not be read twice', async () => {
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const { exitCode, stderr } = await runCli(['feedback', 'it broke', '--bundle', 'pipe'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(stderr).toContain('error: pipe is a pipe');
  expect(exitCode).toBe(2);
});

test('a link that leads to itself is told of by its name', async () => {
  symlinkSync('loop', join(cwd, 'loop'));
  const { exitCode, stderr } = await runCli(['feedback', 'it broke', '--file', 'loop', '--yes'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(stderr).toMatch(/^error: loop cannot be read: .+\nMake it readable, or leave it out\.\n$/);
  expect(exitCode).toBe(2);
});

/** The command with a gateway that hangs up where `cut`, and else is silent until the person leaves. */
async function sent({ cut }: { readonly cut: boolean }) {
  const { context, clock, interrupt, text } = testContext();
  const silent = await startService((_request, response) => {
    if (cut) response.destroy();
    else interrupt();
    return undefined;
  });
  onTestFinished(() => silent.close());
  const settings = { ...context.settings, stateDir: cwd, organization: mine, token: 'secret' };
  const options = { session: [], file: [], yes: true };
  const at = { ...context, settings: { ...settings, baseUrl: silent.baseUrl } };
  await expect(
    feedback({ ...at, env: { SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' } }, options, 'it broke'),
  ).rejects.toMatchObject({ code: cut ? 'unreachable' : 'aborted' });
  return { kept: readdirSync(join(cwd, 'feedback')), said: text().stderr, clock };
}

test('the bundle goes when the person leaves; after a failure it stays to be sent again', async () => {
  const left = await sent({ cut: false });
  expect(left.kept).toEqual([]);
  expect(left.said).not.toContain('is kept');
  const failed = await sent({ cut: true });
  expect(failed.kept).toEqual([expect.stringMatching(/^feedback-.*\.zip$/)]);
  expect(failed.said).toContain(`--bundle ${join(cwd, 'feedback', failed.kept[0] ?? '')}`);
});

test('what earlier runs left goes after a week', async () => {
  const { clock } = testContext();
  const folder = join(cwd, 'feedback');
  mkdirSync(join(folder, 'bundle-torn'), { recursive: true });
  const days = (count: number) => new Date(clock.now() - count * 86_400_000);
  for (const [name, age] of [
    ['feedback-new.zip', 6],
    ['feedback-old.zip', 8],
  ] as const) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), days(age), days(age));
  }
  utimesSync(join(folder, 'bundle-torn'), days(8), days(8));
  expect((await sent({ cut: false })).kept).toEqual(['feedback-new.zip']);
});

test.each([
  ['is sent from a temporary folder, which goes', 200],
  ['is kept in one that nobody else may enter, if it cannot be sent', 500],
])('where no file of this account can be written, a bundle %s', async (_, status) => {
  const temporary = join(cwd, 'temporary');
  mkdirSync(temporary);
  writeFileSync(join(cwd, 'file'), '');
  const told = await startService({
    'GET /api/bootstrap': { body: { account: { uuid: 'ann', memberships: [] } } },
    'GET /v1/sessions?limit=3&account_id=ann': { body: [] },
    'POST /api/agent_cli_feedback/bundle': {
      status,
      body: status === 200 ? { feedback_id: 'fb_1' } : { error: 'server_error', error_description: 'No.' },
    },
  });
  onTestFinished(() => told.close());
  const env = { ...environmentAt(told), SALLYPORT_CONFIG_DIR: join(cwd, 'file', 'x'), TMPDIR: temporary };
  const args = ['feedback', 'it broke', '--yes', '--collect'];
  const { exitCode, stdout, stderr } = await runCli(args, { cwd, env });
  expect(told.lines()).toContain('POST /api/agent_cli_feedback/bundle');
  const folders = readdirSync(temporary).filter((name) => name.startsWith('sallyport-')); // Node.js caches there, too
  if (status === 200) {
    expect([exitCode, stdout, folders]).toEqual([0, 'Sent. Its number is fb_1.\n', []]);
    return;
  }
  const [folder = ''] = folders;
  expect(statSync(join(temporary, folder)).mode & 0o777).toBe(0o700);
  expect(stderr).toContain(`--bundle ${join(temporary, folder, 'feedback-')}`);
  expect(exitCode).toBe(1);
});

const isRoot = process.getuid?.() === 0;
test.each([
  ['a directory', 'folder', 'folder is no file.'],
  // Root reads everything.
  ...(isRoot ? [] : [['a file of others', 'closed', 'closed cannot be read by this account.']]),
])('a --file that cannot be read (%s) is refused, not left out', async (_, name = '', message = '') => {
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(join(cwd, 'closed'), 'x', { mode: 0o000 });
  const { exitCode, stderr } = await runCli(['feedback', 'it broke', '--file', name, '--yes'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(stderr).toContain(`error: ${message}`);
  expect(exitCode).toBe(2);
  expect(service.seen).toEqual([]);
});

/** Which sessions are collected, from a service whose caller is `ann`. */
async function collected(answers: Record<string, Answer>, asked: readonly string[] = []) {
  const told = await startService({
    'GET /api/bootstrap': { body: { account: { uuid: 'ann', memberships: [] } } },
    ...answers,
  });
  const transport = undiciTransport();
  onTestFinished(async () => {
    told.close();
    await transport.close();
  });
  const { context } = testContext();
  const clientOptions = {
    baseUrl: told.baseUrl,
    transport,
    tokens: { token: () => Promise.resolve('secret') },
  };
  const connection = {
    clientOptions,
    client: createClient(clientOptions),
    organizationId: 'mine',
  } as unknown as Connection;
  const settings = { ...context.settings, stateDir: cwd, token: 'secret' };
  const options = { collect: true, session: asked, file: [] };
  const sources = await collectSources({ ...context, settings }, connection, options);
  const ids = sources.flatMap(({ name }) => /^sessions\/(.+)\.ndjson$/.exec(name)?.[1] ?? []);
  return { ids, lines: told.lines(), sources };
}

const listed = (id: string, account?: string) =>
  testSession({ id, ...(account !== undefined && { account: { id: account } }) });
const own = 'GET /v1/sessions?limit=3&account_id=ann';

test('the sessions that are collected are the last ones of who collects, and nobody else’s', async () => {
  const one = await collected({ [own]: { body: [listed('s1', 'ann'), listed('s2', 'ann')] } });
  expect(one.ids).toEqual(['s1', 's2']);
  // A service that does not know the filter.
  const two = await collected({ [own]: { body: [listed('s1', 'bob'), listed('s2', 'ann')] } });
  expect(two.ids).toEqual(['s2']);
});

test('they are the last ones of all where the service cannot say whose they are', async () => {
  const body = [listed('s1'), listed('s2')];
  expect((await collected({ [own]: { body } })).ids).toEqual(['s1', 's2']);
  const nobody = { 'GET /api/bootstrap': { status: 404 }, 'GET /v1/sessions?limit=3': { body } };
  expect((await collected(nobody)).ids).toEqual(['s1', 's2']);
});

const id = `session_${'9'.repeat(26)}`;

test('those that are named are taken as they are', async () => {
  expect(await collected({}, [id])).toMatchObject({ ids: [id], lines: [] });
});

test('the patches of a session stay where they are', async () => {
  const types = ['session.output', 'worker.patch', 'worker.changes'];
  const frames = types.map((type, index) => {
    const event = {
      id: `e${index}`,
      seq: index + 1,
      type,
      session_id: id,
      created_at: '2026-01-01T00:00:00.000Z',
      data: {},
    };
    return `id: ${index + 1}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  const body = `${frames.join('')}event: caught_up\ndata: {"type":"caught_up","seq":3}\n\n`;
  const answer = { headers: { 'content-type': 'text/event-stream' }, body };
  const stream = `GET /v1/sessions/${id}/events/stream?beta=true&from_seq=0`;
  const { sources } = await collected({ [stream]: answer }, [id]);
  const [events] = sources.filter((source) => source.name === `sessions/${id}.ndjson`);
  const kept: string[] = [];
  if (events && 'lines' in events) for await (const line of events.lines()) kept.push(line);
  expect(kept.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    'session.output',
    'worker.changes',
  ]);
});

test('a bundle shows every setting, and no secret in one', async () => {
  const { context } = testContext();
  const env = {
    SALLYPORT_CONFIG_DIR: cwd,
    SALLYPORT_CREDENTIAL_STORE: 'file',
    SALLYPORT_BASE_URL: 'https://ann:hunter2@gateway.example',
    SALLYPORT_TOKEN: 'secret',
  };
  const connection = { organizationId: 'mine' } as unknown as Connection;
  const sources = await collectSources({ ...context, flags: {}, env }, connection, { session: [], file: [] });
  const { path } = await buildBundle({
    sources,
    directory: cwd,
    redactor: createRedactor(),
    clock: context.clock,
  });
  const { 'settings.json': shown = '' } = await readZip(path);
  const values = (JSON.parse(shown) as { setting: string; value: unknown }[]).map(({ setting, value }) => [
    setting,
    value,
  ]);
  expect(Object.fromEntries(values)).toEqual({
    'base-url': 'https://[redacted]@gateway.example',
    organization: null,
    profile: null,
    'credential-store': 'file',
    telemetry: 'on',
    'dialect.vendor': 'vendor',
    'dialect.agent': 'agent',
  });
});

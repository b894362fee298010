import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/core';
import { openSpool } from '@sallyport/telemetry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSettings } from '../../config/settings.ts';
import type { Output } from '../../io/terminal.ts';
import { runHere } from '../../testing/cli.ts';
import { testContext } from '../../testing/context.ts';
import type { CommandAct } from '../act.ts';
import { profileAdd } from '../profile/change.ts';
import { telemetryShow } from './show.ts';
import { telemetryStatus } from './status.ts';
import { telemetryOff, telemetryOn } from './switch.ts';

let cwd: string;
beforeEach(() => (cwd = mkdtempSync(join(tmpdir(), 'sallyport-telemetry-'))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const configPath = () => join(cwd, 'config.json');
const spoolDir = () => join(cwd, 'state/telemetry');
const spool = () => openSpool({ directory: spoolDir(), clock: systemClock });

async function run(act: CommandAct<object>, env: NodeJS.ProcessEnv = {}, options = {}, ...args: string[]) {
  const { context, text } = testContext();
  const own = { SALLYPORT_CONFIG_DIR: cwd, ...env };
  const settings = readSettings({}, own, cwd);
  const output = (await act({ ...context, flags: {}, env: own, settings }, options, ...args)) as Output;
  return { ...output, stderr: text().stderr };
}

test('the switch is kept, whatever the profile, and status tells what decides', async () => {
  expect((await run(telemetryStatus)).human).toBe(
    `Telemetry is on: the default.\nSent to:  http://127.0.0.1:8787\nWaiting:  0 events in ${spoolDir()}`,
  );
  await run(profileAdd, { SALLYPORT_BASE_URL: 'https://work.example' }, { use: true }, 'work');
  expect((await run(telemetryOff)).human).toBe(`Telemetry is off: telemetry in ${configPath()}.`);
  expect(JSON.parse(readFileSync(configPath(), 'utf8'))).toMatchObject({ telemetry: 'off', profile: 'work' });
  expect((await run(telemetryStatus)).json).toEqual({
    enabled: false,
    decided_by: `telemetry in ${configPath()}`,
    base_url: 'https://work.example',
    spool: spoolDir(),
    waiting: 0,
  });
  expect((await run(telemetryOn)).human).toBe(`Telemetry is on: telemetry in ${configPath()}.`);
});

test.each([
  [{ DO_NOT_TRACK: '1' }, 'DO_NOT_TRACK=1'],
  [{ OTEL_SDK_DISABLED: 'TRUE' }, 'OTEL_SDK_DISABLED=true'],
  [{ SALLYPORT_TELEMETRY: '0' }, 'SALLYPORT_TELEMETRY=0'],
])('%j has the last word', async (env, switched) => {
  const { human, stderr } = await run(telemetryOn, env);
  expect(stderr).toBe(`Here telemetry is off all the same: ${switched} wins.\n`);
  expect(human).toBe(`telemetry is on in ${configPath()}.`);
  expect((await run(telemetryStatus, env)).human).toContain(
    `Telemetry is off: ${switched}.\nSent to:  nobody\n`,
  );
});

test('off deletes what waits', async () => {
  spool().append(['{"a":1}']);
  await run(telemetryOff);
  expect(existsSync(spoolDir())).toBe(false);
});

test('show has what waits, word for word, and an event as a command makes it', async () => {
  const waiting = ['{"body":{"stringValue":"one"}}', '{"body":{"stringValue":"two"}}'];
  spool().append(waiting);
  const { human, stderr } = await run(telemetryShow);
  expect(stderr).toBe('');
  const lines = human.split('\n');
  expect(lines[0]).toBe('POST http://127.0.0.1:8787/api/event_logging/v2/batch');
  const shown = [
    'x-service-name: agent_cli',
    'authorization: Bearer [your login]',
    'Waiting (2):',
    ...waiting,
  ];
  expect(lines).toEqual(expect.arrayContaining(shown));
  expect(lines).toContainEqual(expect.stringMatching(/^idempotency-key: \S+$/));
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ severityNumber: 9, severityText: 'info' });
  expect(spool().peek()).toEqual(waiting);

  const off = await run(telemetryShow, { DO_NOT_TRACK: '1' });
  expect(off.stderr).toBe('Telemetry is off: DO_NOT_TRACK=1. Nothing is sent; it would be this.\n');
  const session = { key: 'session.id', value: { stringValue: 'session_0' } };
  expect(off.json).toMatchObject({
    enabled: false,
    waiting: waiting.map((event) => JSON.parse(event) as unknown),
    example: [{ attributes: expect.arrayContaining([session]) as unknown }],
  });
});

test('a switch that is neither on nor off is refused', async () => {
  const ran = await runHere(['telemetry', 'status'], { cwd, env: { SALLYPORT_TELEMETRY: 'maybe' } });
  expect(ran).toMatchObject({
    exitCode: 2,
    stderr: 'error: SALLYPORT_TELEMETRY is "maybe", which is neither on nor off.\nTake `on` or `off`.\n',
  });
});

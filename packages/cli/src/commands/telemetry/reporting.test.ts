import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { previewEvents } from '@sallyport/telemetry';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../config/settings.ts';
import { connect } from '../../connect.ts';
import { telemetryOptions } from '../../telemetry-options.ts';
import { testContext } from '../../testing/context.ts';
import { environmentAt, startService } from '../../testing/service.ts';
import { spoolOf } from './spool.ts';
import { telemetryOff } from './switch.ts';

test('ids, states and names of errors are reported, and nothing else, whatever an event has', async () => {
  const { context } = testContext();
  const attributes = {
    'session.id': 's',
    'session.title': 'mine',
    prompt: 'do it',
    path: '/src',
    'error.type': 'E',
  };
  const options = { ...telemetryOptions(context), baseUrl: 'http://127.0.0.1:9', clock: context.clock };
  const sent = await previewEvents(options, [{ name: 'session.ended', attributes }]);
  const { attributes: list } = JSON.parse(sent?.events[0] ?? '') as { attributes: { key: string }[] };
  expect(list.map(({ key }) => key)).toEqual([
    ...['event.name', 'event.id', 'service.name', 'service.version', 'os.type'],
    ...['session.id', 'error.type'],
  ]);
});

/** A command whose settings are in a folder of its own, with a service that does not answer. */
async function connected() {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-reporting-'));
  const service = await startService(() => undefined);
  onTestFinished(() => {
    service.close();
    rmSync(folder, { recursive: true });
  });
  const env = { ...environmentAt(service), DO_NOT_TRACK: '', SALLYPORT_CONFIG_DIR: folder };
  const { context, clock } = testContext();
  const ends: (() => Promise<void>)[] = [];
  const settings = readSettings({}, env, folder);
  const here = { ...context, env, settings, onEnd: (act: () => Promise<void>) => void ends.unshift(act) };
  const { reporter } = await connect(here);
  const end = async () => {
    for (const act of ends) await act();
  };
  return { here, folder, clock, service, reporter, end };
}

test('a silent service holds a command up for a second at most; its event waits for the next command', async () => {
  const { here, clock, service, reporter, end } = await connected();
  reporter.report({ name: 'session.created', attributes: { 'session.id': 's' } });

  let hasEnded = false;
  const ended = end().then(() => (hasEnded = true));
  await expect.poll(() => service.lines()).toEqual(['POST /api/event_logging/v2/batch']);
  await clock.advance(999);
  expect(hasEnded).toBe(false);
  await clock.advance(1);
  await expect.poll(() => hasEnded).toBe(true);
  await ended;
  expect(spoolOf(here).spool.peek()).toEqual([expect.stringContaining('session.created')]);
});

test.each([
  ['telemetry is turned off', ({ here }) => telemetryOff(here)],
  ['the settings cannot be read', ({ folder }) => writeFile(join(folder, 'config.json'), '{')],
] satisfies [string, (command: Awaited<ReturnType<typeof connected>>) => Promise<unknown>][])(
  'a command that runs reports nothing once %s',
  async (_, act) => {
    const command = await connected();
    await act(command);
    command.reporter.report({ name: 'session.started' });
    await command.end();
    expect(command.service.lines()).toEqual([]);
    expect(spoolOf(command.here).spool.peek()).toEqual([]);
  },
);

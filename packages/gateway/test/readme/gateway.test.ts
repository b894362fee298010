import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { codeBlocks, runLine, runProgram, startLine, withValues } from './examples.ts';

const [commands = '', exporting = '', embedding = '', ...more] = codeBlocks('gateway');
const lines = commands.trim().split('\n');

test('there is a run of each example', () => {
  expect(more).toEqual([]);
  expect(lines).toHaveLength(4);
});

const [plain = '', elsewhere = '', sessionKey = '', doctor = ''] = lines;

/** A gateway by that line of the README, once it listens. */
async function started(line: string, env: Readonly<Record<string, string>>) {
  const gateway = startLine(line, env);
  expect(String(await once(gateway.stdout, 'data'))).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n/);
  return gateway;
}

test('it starts where it is told to, and ends when told', async () => {
  const folder = join(scratchDirectory(), 'data');
  const gateway = await started(withValues(elsewhere, { './data': folder }), { SALLYPORT_PORT: '1' });
  expect(existsSync(join(folder, 'sallyport.db'))).toBe(true);
  const exit = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});

test('its other commands work while it runs', async () => {
  const env = { SALLYPORT_DATA_DIR: join(scratchDirectory(), 'data'), SALLYPORT_PORT: '0' };
  await started(plain, env);
  const [key, judgement] = await Promise.all([runLine(sessionKey, env), runLine(doctor, env)]);
  expect(key).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+\n$/) as string });
  expect(judgement).toMatchObject({ code: 0, stdout: expect.stringContaining('data') as string });
});

test('the settings of an export are ones that there are', () => {
  const file = join(scratchDirectory(), 'gateway.yaml');
  writeFileSync(file, exporting);
  expect(loadConfig({ env: {}, file }).config.telemetry.export).toMatchObject({
    url: 'http://collector:4318',
    encoding: 'protobuf',
    compression: 'gzip',
  });
});

test('the program that embeds it runs it, and ends', async () => {
  const program = withValues(embedding, { './data': join(scratchDirectory(), 'data') });
  expect(await runProgram(program)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/) as string,
  });
});

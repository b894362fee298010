import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scratch } from '../../test/batcher.ts';
import { attributeOf, startSink } from '../../test/sink.ts';
import { openSpool } from '../spool/spool.ts';
import { systemClock } from '@sallyport/core';

const program = fileURLToPath(new URL('../../test/pino-program.ts', import.meta.url));

async function run(baseUrl: string, spoolDir: string, ending: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['--conditions=@sallyport/source', program, ending], {
    env: { BASE_URL: baseUrl, SPOOL_DIR: spoolDir, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

test.each([
  ['end', 0],
  ['exit', 3],
])('what pino logs arrives, though the program ends at once (%s)', async (ending, code) => {
  const sink = await startSink();
  const { spoolDir } = scratch();
  expect(await run(sink.baseUrl, spoolDir, ending)).toEqual({ code, stderr: '' });
  const [opened, failed, ...others] = sink.requests.flatMap(({ events }) => events);
  expect(others).toEqual([]);
  expect(opened).toMatchObject({
    severityNumber: 13,
    severityText: 'warn',
    body: { stringValue: 'cart opened' },
  });
  expect(Number(opened!.timeUnixNano) / 1e6).toBeLessThanOrEqual(Date.now());
  expect(['user', 'password', 'service.name'].map((name) => attributeOf(opened!, name))).toEqual([
    'new',
    '[redacted]',
    'shop',
  ]);
  expect(failed).toMatchObject({ severityNumber: 17, body: { stringValue: 'no such item' } });
  expect(attributeOf(failed!, 'exception.type')).toBe('TypeError');
  expect(attributeOf(failed!, 'exception.stacktrace')).toMatch(/^TypeError: no such item\n/);
  expect(attributeOf(failed!, 'logger.name')).toBe('cart');
  expect(attributeOf(failed!, 'host.name')).toBeUndefined();
});

test('what cannot be sent is in the spool', async () => {
  const sink = await startSink(() => ({ status: 503 }));
  const { spoolDir } = scratch();
  expect(await run(sink.baseUrl, spoolDir, 'end')).toEqual({ code: 0, stderr: '' });
  const bodies = openSpool({ directory: spoolDir, clock: systemClock })
    .peek()
    .map((event) => (JSON.parse(event) as { body: { stringValue: string } }).body.stringValue);
  expect(bodies).toEqual(['cart opened', 'no such item']);
});

test('its thread, too, says on stderr why nothing arrives, where that is asked for', async () => {
  const { code, stderr } = await run('http://127.0.0.1:1', scratch().spoolDir, 'end', {
    SALLYPORT_DEBUG: '1',
  });
  expect(code).toBe(0);
  expect(stderr).toBe('telemetry: http://127.0.0.1:1 cannot be reached: connection refused\n');
});

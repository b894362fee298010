import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeBatcher, scratch } from '../../test/batcher.ts';
import { startSink } from '../../test/sink.ts';
import { optOut } from './opt-out.ts';

test.each([
  [{ DO_NOT_TRACK: '1' }, 'DO_NOT_TRACK=1'],
  [{ DO_NOT_TRACK: 'yes please' }, 'DO_NOT_TRACK=yes please'],
  [{ OTEL_SDK_DISABLED: 'TRUE' }, 'OTEL_SDK_DISABLED=true'],
  [{ OTEL_LOGS_EXPORTER: 'none' }, 'OTEL_LOGS_EXPORTER=none'],
  [{ SALLYPORT_TELEMETRY: '0' }, 'SALLYPORT_TELEMETRY=0'],
  [{ DO_NOT_TRACK: '0' }, undefined],
  [{ DO_NOT_TRACK: 'False' }, undefined],
  [{ DO_NOT_TRACK: '' }, undefined],
  [{ OTEL_SDK_DISABLED: '1' }, undefined],
  [{ SALLYPORT_TELEMETRY: '1' }, undefined],
  [{}, undefined],
])('%j', (env, by) => {
  expect(optOut(env)).toBe(by);
});

test('off means no request and no file, at no time', async () => {
  const sink = await startSink();
  const { directory, spoolDir } = scratch();
  const { batcher, clock } = makeBatcher({
    baseUrl: sink.baseUrl,
    spoolDir,
    env: { DO_NOT_TRACK: '1' },
    enabled: true,
  });
  expect(batcher.offBy).toBe('DO_NOT_TRACK=1');
  for (let index = 0; index < 60; index += 1) batcher.emit({ name: 'x' });
  await clock.advance(120_000);
  expect(await batcher.flush()).toEqual({ sent: 0, spooled: 0, dropped: 0, waiting: 0 });
  await batcher.shutdown();
  expect(sink.requests).toHaveLength(0);
  expect(readdirSync(directory)).toEqual([]);
  expect(clock.timers).toBe(0);
});

test('off deletes what is spooled, and nothing else', async () => {
  const { spoolDir } = scratch();
  const options = { baseUrl: 'http://127.0.0.1:9', spoolDir };
  const { batcher } = makeBatcher({
    ...options,
    tokens: { token: () => Promise.reject(new Error('no login')) },
  });
  batcher.emit({ name: 'x' });
  await batcher.shutdown();
  expect(readdirSync(spoolDir)).toHaveLength(1);
  makeBatcher({ ...options, enabled: false });
  expect(existsSync(spoolDir)).toBe(false);

  mkdirSync(spoolDir, { recursive: true });
  writeFileSync(join(spoolDir, 'notes.jsonl'), 'mine');
  makeBatcher({ ...options, enabled: false });
  expect(readdirSync(spoolDir)).toEqual(['notes.jsonl']);
});

test("the last word is the environment's", async () => {
  const sink = await startSink();
  const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, env: { DO_NOT_TRACK: '0' } });
  batcher.emit({ name: 'x' });
  expect(await batcher.flush()).toMatchObject({ sent: 1 });
});

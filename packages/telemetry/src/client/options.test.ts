import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { makeBatcher } from '../../test/batcher.ts';
import { errorHook } from './options.ts';

function heardOn(env: Readonly<Record<string, string>>, clock = new ManualClock()) {
  const lines: string[] = [];
  const tell = errorHook({ ...batcherOptions, env, clock }, (line) => lines.push(line));
  return { tell, clock, lines: () => lines };
}

const batcherOptions = {
  baseUrl: 'http://127.0.0.1:9',
  transport: { send: () => Promise.reject(new Error('no')), close: () => Promise.resolve() },
  serviceName: 'agent_cli',
  serviceVersion: '0.0.0',
};

test('its own trouble is a line on stderr where that is asked for, and one a minute', async () => {
  const { tell, clock, lines } = heardOn({ SALLYPORT_DEBUG: '1' });
  tell(new Error('first'));
  tell(new Error('second'));
  await clock.advance(59_999);
  tell(new Error('third'));
  expect(lines()).toEqual(['telemetry: first\n']);
  await clock.advance(1);
  tell('fourth');
  expect(lines()).toEqual(['telemetry: first\n', 'telemetry: fourth\n']);
});

test('else nobody hears of it', () => {
  const { tell, lines } = heardOn({});
  tell(new Error('first'));
  expect(lines()).toEqual([]);
});

test('a spool that cannot be written is such trouble; the events are counted as lost', async () => {
  const errors: unknown[] = [];
  const { batcher } = makeBatcher({
    baseUrl: 'http://127.0.0.1:9',
    spoolDir: '/dev/null/spool',
    tokens: { token: () => Promise.reject(new Error('no login')) },
    onError: (error) => errors.push(error),
  });
  batcher.emit({ name: 'x' });
  await batcher.shutdown();
  expect(errors).toEqual([expect.objectContaining({ syscall: 'mkdir' })]);
  expect(batcher.stats()).toMatchObject({ spooled: 0, waiting: 0, dropped: { unsent: 1 } });
});

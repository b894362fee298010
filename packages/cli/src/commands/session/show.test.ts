import { ServiceError, TransportError } from '@sallyport/core';
import type { Transport } from '@sallyport/core/client';
import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { testSession } from '../../testing/session.ts';
import { patienceMs, readEnd } from './show.ts';

const session = testSession();

function through(send: Transport['send']) {
  const transport: Transport = { send, close: () => Promise.resolve() };
  return { clientOptions: { baseUrl: 'http://127.0.0.1:1', transport } };
}

test('the log is read from near its end', async () => {
  const { context, text } = testContext();
  const asked: string[] = [];
  const connection = through(({ url }) => {
    asked.push(url);
    return Promise.reject(new ServiceError('not_found', 'Gone.', { status: 404 }));
  });
  // The record, which was asked for, is there all the same.
  expect(await readEnd(context, connection, { ...session, last_seq: 5000 })).toBe(undefined);
  expect(text().stderr).toBe('Why it ended could not be read (Gone.).\n');
  expect(asked).toEqual([expect.stringContaining('from_seq=4980') as string]);
});

test('a gateway that has gone is not waited for without end', async () => {
  const { context, clock, text } = testContext();
  const reading = readEnd(
    context,
    through(() => Promise.reject(new TransportError('unreachable', 'it cannot be reached'))),
    session,
  );
  await clock.advance(patienceMs);
  expect(await reading).toBeUndefined();
  expect(text().stderr).toContain('could not be read within 10 s');
  expect(clock.timers).toBe(0);
});

test('Ctrl-C ends the reading', async () => {
  const { context, interrupt } = testContext();
  const aborted = new TransportError('aborted', 'aborted');
  const connection = through(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(aborted));
        interrupt();
      }),
  );
  const reading = readEnd(context, connection, session);
  await expect(reading).rejects.toMatchObject({ code: 'aborted' });
});

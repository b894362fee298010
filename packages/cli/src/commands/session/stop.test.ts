import { ServiceError } from '@sallyport/core';
import { createClient } from '@sallyport/core/client';
import { expect, test } from 'vitest';
import { toFailure } from '../../io/failure.ts';
import { testSession } from '../../testing/session.ts';
import { stopSession } from './stop.ts';

const session = testSession({ status: 'running' });

test("who may not stop a session on a colleague's environment is told who may", async () => {
  const refusal = new ServiceError('forbidden', 'The environment is of another account.');
  const transport = { send: () => Promise.reject(refusal), close: () => Promise.resolve() };
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', transport });
  const thrown = await stopSession({ client }, session, { force: false }).catch((error: unknown) => error);
  expect(toFailure(thrown)).toMatchObject({
    code: 'forbidden',
    exitCode: 3,
    nextStep: expect.stringMatching(/owner of env_1.*sallyport session show session_1/) as string,
  });
});

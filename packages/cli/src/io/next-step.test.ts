import { ServiceError, TransportError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { toFailure } from './failure.ts';
import { advising } from './next-step.ts';

const told = async (error: Error) =>
  toFailure(
    await advising(Promise.reject(error), { not_found: 'List them.' }).catch((thrown: unknown) => thrown),
  );

test('a failure that the command knows gets its next step, and keeps what the service said', async () => {
  const error = new ServiceError('not_found', 'There is no session x', { requestId: 'req_1' });
  expect(await told(error)).toEqual({
    code: 'not_found',
    message: 'There is no session x.',
    exitCode: 4,
    nextStep: 'List them.',
    details: { request_id: 'req_1' },
  });
});

test('another failure stays what it is, and a result too', async () => {
  const error = new TransportError('unreachable', 'x cannot be reached');
  expect(await told(error)).toEqual(toFailure(error));
  expect(await advising(Promise.resolve(7), {})).toBe(7);
});

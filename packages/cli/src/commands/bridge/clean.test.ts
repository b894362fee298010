import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { bridgeClean, sessionMeant } from './clean.ts';

test('a directory without a bridge is not found', async () => {
  await expect(bridgeClean(testContext().context, { dir: '/elsewhere' })).rejects.toMatchObject({
    code: 'no_bridge',
    message: 'No bridge is known in /elsewhere.',
    exitCode: 4,
    nextStep: 'See those of this machine: sallyport bridge status',
  });
});

test('a session is named by the beginning of its id, too', () => {
  const sessions = ['session_01KAAAB', 'session_01KAAAC'].map((sessionId) => ({
    sessionId,
    directory: '/w',
  }));
  expect(sessionMeant('01kaaac', sessions)).toBe('session_01KAAAC');
  expect(sessionMeant('session_01J', sessions)).toBe('session_01J');
  expect(() => sessionMeant('01KA', sessions)).toThrow(
    /may be one of several sessions:\nID .*\nsession_01KAAAB +\/w\n/,
  );
});

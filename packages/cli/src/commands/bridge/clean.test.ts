import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { bridgeClean } from './clean.ts';

test('a directory without a bridge is not found', async () => {
  await expect(bridgeClean(testContext().context, { dir: '/elsewhere' })).rejects.toMatchObject({
    code: 'no_bridge',
    message: 'No bridge is known in /elsewhere.',
    exitCode: 4,
    nextStep: 'See those of this machine: sallyport bridge status',
  });
});

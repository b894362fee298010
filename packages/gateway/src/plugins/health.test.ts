import { expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';

test('ready is who gets answers from all that it needs', async () => {
  let store: () => Promise<void> = () => Promise.resolve();
  await using served = await serve({ checks: { store: () => store() } });
  const ready = async () => {
    const answer = await fetch(`${served.url}/readyz`);
    return [answer.status, await answer.json()];
  };
  expect(await ready()).toEqual([200, { status: 'ready', checks: { store: 'ok' } }]);
  store = () => Promise.reject(new Error('gone'));
  expect(await ready()).toEqual([503, { status: 'unavailable', checks: { store: 'failing' } }]);
  const alive = await fetch(`${served.url}/healthz`);
  expect([alive.status, await alive.json()]).toEqual([200, { status: 'ok' }]);
});

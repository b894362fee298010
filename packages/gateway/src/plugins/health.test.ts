import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { gate } from '../../test/gate.ts';
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

test('warnings are told, and change nothing; one that fails is none', async () => {
  const warnings = {
    disk: () => Promise.resolve('little is left'),
    memory: () => Promise.resolve(undefined),
    fan: () => Promise.reject(new Error('unknown')),
  };
  await using served = await serve({ warnings });
  const answer = await fetch(`${served.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { status: 'ready', checks: {}, warnings: { disk: 'little is left' } },
  ]);
});

test('what does not answer within two seconds has timed out', async () => {
  const clock = new ManualClock();
  const asked = gate();
  const check = () => {
    asked.open();
    return new Promise<void>(() => undefined);
  };
  await using served = await serve({ checks: { store: check } }, { clock });
  const ready = fetch(`${served.url}/readyz`);
  await asked.opened;
  await clock.advance(2000);
  expect(await (await ready).json()).toEqual({ status: 'unavailable', checks: { store: 'timed out' } });
});

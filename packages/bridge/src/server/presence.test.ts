import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import type { BridgeActs } from './acts.ts';
import { defaultBridgeConfig } from './config.ts';
import { createPresence } from './presence.ts';

type Seen = Parameters<BridgeActs['touchEnvironments']>[0]['seen'];

/** Signs of life over a store that does as `touch` says; `written` is what it was given, write by write. */
function presenceOver(touch: () => Promise<void>) {
  const clock = new ManualClock();
  const written: Seen[] = [];
  const acts = {
    touchEnvironments: ({ seen }: { readonly seen: Seen }) => {
      written.push(seen);
      return touch();
    },
  } as unknown as BridgeActs;
  return { presence: createPresence(acts, clock, defaultBridgeConfig), clock, written };
}

test('a sign of life that could not be written counts, and is written with the next ones', async () => {
  let isAway = true;
  const { presence, clock, written } = presenceOver(() =>
    isAway ? Promise.reject(new Error('The store is away.')) : Promise.resolve(),
  );
  const at = clock.now();
  presence.seen('env_1');
  await expect(presence.write('all')).rejects.toThrow('away');
  expect(presence.lastSeen('env_1', 0)).toBe(at);
  isAway = false;
  await clock.advance(1);
  presence.seen('env_2');
  await presence.write('all');
  expect(written.at(-1)).toEqual([
    { environmentId: 'env_1', at },
    { environmentId: 'env_2', at: at + 1 },
  ]);
  await presence.write('all');
  expect(written).toHaveLength(2);
});

test('who wants all of it stored waits for what is on its way, and writes nothing twice', async () => {
  const stored = Promise.withResolvers<undefined>();
  const { presence, clock, written } = presenceOver(() => stored.promise);
  await clock.advance(5_000);
  presence.seen('env_1');
  void presence.write('due');
  let isDone = false;
  const all = presence.write('all').then(() => (isDone = true));
  await clock.advance(0);
  expect(isDone).toBe(false);
  stored.resolve(undefined);
  await all;
  expect(written).toHaveLength(1);
});

test('what is seen while a write is on its way is written after it', async () => {
  const stored = Promise.withResolvers<undefined>();
  const { presence, clock, written } = presenceOver(() => stored.promise);
  presence.seen('env_1');
  const first = presence.write('all');
  await clock.advance(1);
  presence.seen('env_1');
  stored.resolve(undefined);
  await first;
  await presence.write('all');
  expect(written.flat().map(({ at }) => at)).toEqual([clock.now() - 1, clock.now()]);
});

test('an environment that was forgotten is not written any more', async () => {
  const { presence, written } = presenceOver(() => Promise.resolve());
  presence.seen('env_1');
  presence.forget('env_1');
  await presence.write('all');
  expect(written).toEqual([]);
});

import { expect, test } from 'vitest';
import type { KnownEnvironment } from '../known-environments.ts';
import { bridgesOf } from './bridges-of.ts';

const ann = { id: 'a1', email: 'ann@example.com' };
const bob = { id: 'b1', email: 'bob@example.com' };

function environment(id: string, more: Partial<KnownEnvironment>): KnownEnvironment {
  const bridge = { environment_id: id, machine_name: 'vm', directory: '/srv', metadata: {} };
  const seen = { last_seen_at: '2020-01-01T00:00:00.000Z', active_sessions: 0, worker_type: 'cowork' };
  return {
    ...{ id, kind: 'bridge', name: 'vm', directory: '/srv', state: 'online', tags: [], account: ann },
    bridge: { ...bridge, ...seen, status: 'online' },
    ...more,
  };
}

test('of those who are removed the bridges at work are named, by address and by id', () => {
  const environments = [
    environment('env_1', {}),
    environment('env_2', { state: 'disconnected', name: 'x\u001b[2J' }),
    environment('env_3', { state: 'offline' }),
    environment('env_4', { account: bob }),
    environment('env_5', { account: undefined }),
    environment('env_6', { account: { id: 'a1', email: null } }),
  ];
  const named = (...people: string[]) => bridgesOf(people, environments).match(/env_\d/g) ?? [];
  expect(named('Ann@Example.com')).toEqual(['env_1', 'env_2']);
  expect(named('A1')).toEqual(['env_1', 'env_2', 'env_6']);
  expect(named('bob@example.com', 'a1')).toEqual(['env_1', 'env_2', 'env_4', 'env_6']);
  expect(bridgesOf(['eve@example.com'], environments)).toBe('');
  expect(bridgesOf(['ann@example.com'], environments)).not.toContain('\u001b');
  expect(bridgesOf(['bob@example.com'], environments)).toBe(
    'These bridges end, too, with the sessions on them:\n  env_4  vm  /srv  bob@example.com\n',
  );
});

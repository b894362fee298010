import { describe, expect, test } from 'vitest';
import { destinationsOf } from './destinations.ts';
import { loadConfig, type ConfigSources } from './load.ts';

const env = { HOME: '/home/me' };
const url = 'https://api.example';
const load = (flags: ConfigSources['flags'] = {}, more: Record<string, string> = {}) =>
  destinationsOf(loadConfig({ env: { ...env, ...more }, flags }).config);
const forward = { to: 'upstream', url, credential: { kind: 'forward' } };
const local = { 'areas.oauth': 'local', 'areas.devices': 'local' };

describe('where areas and families go', () => {
  test('is here, with nothing set', () => {
    expect([...load().values()].every(({ to }) => to === 'local')).toBe(true);
  });

  test.each<[string, () => ReturnType<typeof load>]>([
    ['--upstream', () => load({ upstream: `${url}/` })],
    ['SALLYPORT_UPSTREAM', () => load({}, { SALLYPORT_UPSTREAM: url })],
    ['SALLYPORT_UPSTREAM_URL', () => load({}, { SALLYPORT_UPSTREAM_URL: url })],
    ['upstream.url', () => load({ 'upstream.url': url })],
  ])('is upstream, with %s alone', (_name, loaded) => {
    expect(loaded()).toHaveLength(19);
    expect([...loaded().values()]).toEqual(Array.from({ length: 19 }, () => forward));
  });

  test('is mixed as areas say', () => {
    const mixed = load({ upstream: url, ...local, 'areas.voice': 'off', 'upstream.credential': 'sk-1' });
    expect(mixed.get('oauth')).toEqual({ to: 'local' });
    expect(mixed.get('voice')).toEqual({ to: 'off' });
    const value = { kind: 'replace', header: 'authorization', value: 'sk-1' };
    expect(mixed.get('messages')).toEqual({ to: 'upstream', url, credential: value });
  });

  test('is here for what shares records with an area that is, unless something else is said', () => {
    const mixed = load({
      upstream: url,
      'areas.oauth': 'local',
      'areas.bridge': 'local',
      'upstream.credential': 'none',
    });
    const here = [...mixed].filter(([, { to }]) => to === 'local').map(([name]) => name);
    expect(here).toEqual([
      ...['oauth', 'devices', 'bridge', 'sessions', 'worker', 'environments', 'account', 'admin'],
    ]);
    const told = load({
      upstream: url,
      ...local,
      'areas.account': 'upstream',
      'upstream.credential': 'none',
    });
    expect(told.get('account')?.to).toBe('upstream');
  });

  test('is an upstream of its own, if it has one', () => {
    const own = load({ upstreams: '{"messages":{"url":"http://127.0.0.1:8000","credential":"none"}}' });
    const withheld = { kind: 'withhold', checked: true };
    expect(own.get('messages')).toEqual({
      to: 'upstream',
      url: 'http://127.0.0.1:8000',
      credential: withheld,
    });
    expect(own.get('models')).toEqual({ to: 'local' });
  });

  test("is shown the gateway's own login, where callers are checked here", () => {
    const mixed = load({ upstream: url, ...local, 'upstream.login': true });
    expect(mixed.get('models')).toEqual({ to: 'upstream', url, credential: { kind: 'login' } });
    expect(() => load({ upstream: url, 'upstream.login': true })).toThrow(
      'upstream.login is set, but callers are not checked here',
    );
    expect(() =>
      load({ upstream: url, ...local, 'upstream.login': true, 'upstream.credential': 'sk-1' }),
    ).toThrow('are both set: leave one of them out');
  });

  test("callers' credentials go to no other origin than the one that gave them, unless told so", () => {
    const rule = (upstreams: object) => {
      const to = load({ upstream: url, upstreams: JSON.stringify(upstreams) }).get('messages');
      return to?.to === 'upstream' ? to.credential : to;
    };
    expect(rule({ messages: `${url}/other` })).toEqual({ kind: 'forward' });
    expect(rule({ messages: 'https://other.example' })).toEqual({ kind: 'withhold', checked: false });
    expect(rule({ messages: { url: 'https://other.example', forwardCredentials: true } })).toEqual({
      kind: 'forward',
    });
  });

  test('parts of a group may be off', () => {
    expect(load({ 'areas.environments': 'off', 'areas.oauth': 'off' }).get('bridge')).toEqual({
      to: 'local',
    });
  });
});

test.each([
  [{ 'areas.messages': 'upstream' }, 'areas.messages is upstream, but there is none: set upstream'],
  [
    { upstream: url, 'areas.sessions': 'local' },
    'areas.bridge and areas.sessions share their records, but go to different places: send bridge, sessions, worker and environments to the same one.',
  ],
  [{ upstream: url, 'areas.devices': 'local' }, 'send oauth and devices to the same one.'],
  [
    { upstream: url, upstreams: '{"worker":"https://other.example"}' },
    'areas.bridge and areas.worker share their records',
  ],
  [{ upstream: url, ...local }, 'so upstream.credential must be set'],
  [
    { ...local, upstreams: '{"messages":"http://127.0.0.1:1"}' },
    'so upstreams.messages.credential must be set',
  ],
  [
    { upstream: url, 'upstream.credential': 'sk-hunter2' },
    'upstream.credential is set, but callers are not checked',
  ],
  [
    { upstream: url, upstreams: '{"files":{"url":"https://o.example","credential":"sk-hunter2"}}' },
    'upstreams.files.credential is set, but callers are not checked',
  ],
  [{ upstream: 'sk-hunter2' }, 'upstream.url (from --upstream) must be an absolute http or https address'],
  [{ upstreams: '{"mesages":"sk-hunter2"}' }, 'upstreams (from --upstreams) must be an object of areas'],
  [{ 'areas.files': 'away' }, 'areas.files (from --set areas.files) must be one of local, upstream, off'],
])('%j is refused with a way out', (flags, message) => {
  expect(() => load(flags)).toThrow(message);
  expect(() => load(flags)).not.toThrow('hunter2');
});

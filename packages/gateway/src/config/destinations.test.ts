import { describe, expect, test } from 'vitest';
import { destinationsOf } from './destinations.ts';
import { loadConfig, type ConfigSources } from './load.ts';

const env = { HOME: '/home/me' };
const url = 'https://api.example';
const load = (flags: ConfigSources['flags'] = {}, more: Record<string, string> = {}) =>
  destinationsOf(loadConfig({ env: { ...env, ...more }, flags }).config);
const forward = { to: 'upstream', url, credential: { kind: 'forward' } };
const credentialOf = (to: ReturnType<ReturnType<typeof load>['get']>) =>
  to?.to === 'upstream' ? to.credential : undefined;
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
    expect([...loaded().values()]).toMatchObject(Array.from({ length: 19 }, () => forward));
  });

  test('is mixed as areas say', () => {
    const mixed = load({ upstream: url, ...local, 'areas.voice': 'off', 'upstream.credential': 'sk-1' });
    expect(mixed.get('oauth')).toEqual({ to: 'local' });
    expect(mixed.get('voice')).toEqual({ to: 'off' });
    const value = { kind: 'replace', header: 'authorization', value: 'sk-1' };
    expect(mixed.get('messages')).toMatchObject({ to: 'upstream', url, credential: value });
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
    expect(own.get('messages')).toMatchObject({
      to: 'upstream',
      url: 'http://127.0.0.1:8000',
      credential: withheld,
    });
    expect(own.get('models')).toEqual({ to: 'local' });
  });

  test("is shown the gateway's own login, where callers are checked here", () => {
    const mixed = load({ upstream: url, ...local, 'upstream.login': true });
    expect(credentialOf(mixed.get('models'))).toMatchObject({ kind: 'login', at: { key: 'upstream', url } });
    expect(() => load({ upstream: url, 'upstream.login': true })).toThrow(
      'upstream.login is set, but callers are not checked here',
    );
    expect(() =>
      load({ upstream: url, ...local, 'upstream.login': true, 'upstream.credential': 'sk-1' }),
    ).toThrow('are both set: leave one of them out');
  });

  test("callers' credentials go to no other origin than the one that gave them, unless told so", () => {
    const rule = (upstreams: object) =>
      credentialOf(load({ upstream: url, upstreams: JSON.stringify(upstreams) }).get('messages'));
    expect(rule({ messages: `${url}/other` })).toEqual({ kind: 'forward' });
    expect(rule({ messages: 'https://other.example' })).toEqual({ kind: 'withhold', checked: false });
    expect(rule({ messages: { url: 'https://other.example', forwardCredentials: true } })).toEqual({
      kind: 'forward',
    });
  });

  test("what the gateway shows at an upstream's origin it shows at no other", () => {
    const other = 'https://other.example';
    const own = (messages: unknown, shared: object = { 'upstream.login': true }) =>
      load({ upstream: url, ...local, ...shared, upstreams: JSON.stringify({ messages }) });
    const rule = (...args: Parameters<typeof own>) => credentialOf(own(...args).get('messages'));
    for (const shared of [{ 'upstream.login': true }, { 'upstream.credential': 'sk-hunter2' }]) {
      const missing = 'so upstreams.messages.credential must be set';
      for (const messages of [other, 'http://api.example', 'https://api.example:8443', { url, login: false }])
        expect(() => own(messages, shared)).toThrow(missing);
      expect(rule({ url: other, credential: 'none' }, shared)).toEqual({ kind: 'withhold', checked: true });
    }
    expect(rule({ url: other, login: true })).toMatchObject({
      at: { key: 'upstreams.messages', url: other },
    });
    expect(rule(`${url}/v2`)).toMatchObject({ kind: 'login', at: { key: 'upstream', url } });
    expect(
      rule(`${url}/v2`, { 'upstream.credential': 'sk-1', 'upstream.credentialHeader': 'x-api-key' }),
    ).toEqual({
      kind: 'replace',
      header: 'x-api-key',
      value: 'sk-1',
    });
  });

  test('how an upstream is reached is said of its own, or else as for all', () => {
    const to = load({
      upstream: url,
      'upstream.ca': 'all.pem',
      'upstream.http2': 'true',
      upstreams: JSON.stringify({
        messages: 'https://messages.example',
        files: { url: 'https://files.example', ca: 'files.pem', http2: false },
        voice: 'http://voice.example',
        skills: 'HTTPS://skills.example',
      }),
    });
    const all = { ca: { setting: 'upstream.ca', file: 'all.pem' }, http2: true };
    expect(to.get('models')).toMatchObject({ ...all, key: 'upstream' });
    expect(to.get('messages')).toMatchObject({ ...all, key: 'upstreams.messages' });
    const ca = { setting: 'upstreams.files.ca', file: 'files.pem' };
    expect(to.get('files')).toMatchObject({ ca, http2: false });
    expect(to.get('voice')).toMatchObject({ ca: undefined, http2: false });
    expect(to.get('skills')).toMatchObject(all);
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
  [{ upstreams: 'sk-hunter2' }, 'upstreams (from --upstreams) must be an object of areas'],
  [
    { upstreams: '{"mesages":"sk-hunter2"}' },
    'upstreams.mesages (from --upstreams) is not a setting. Did you mean messages?',
  ],
  [
    { upstreams: '{"messages":{"url":"https://o.example","htpp2":true}}' },
    'upstreams.messages.htpp2 (from --upstreams) is not a setting. Did you mean http2?',
  ],
  [
    { upstreams: '{"messages":{"url":"https://o.example","http2":"sk-hunter2"}}' },
    'upstreams.messages.http2 (from --upstreams) must be true or false.',
  ],
  [
    { upstreams: '{"messages":{"credential":"sk-hunter2"}}' },
    'upstreams.messages.url (from --upstreams) must be an absolute http or https address',
  ],
  [
    { upstreams: '{"messages":{"url":"https://o.example","credential":"sk-hunter2\\r\\nx: 1"}}' },
    'upstreams.messages.credential (from --upstreams) must be a token or an API key, or none.',
  ],
  [
    { ...local, upstreams: '{"files":{"url":"https://o.example","credential":"sk-hunter2","login":true}}' },
    'upstreams.files.login and upstreams.files.credential are both set: leave one of them out.',
  ],
  [
    { upstream: url, upstreams: '{"files":{"url":"https://o.example","login":true}}' },
    'upstreams.files.login is set, but callers are not checked here',
  ],
  [
    { upstream: url, upstreams: '{"files":{"url":"http://o.example","http2":true}}' },
    'upstreams.files.http2 is set, but upstreams.files.url is an http address',
  ],
  [
    { upstream: 'http://o.example', 'upstream.ca': 'ca.pem' },
    'upstream.ca is set, but upstream.url is an http address',
  ],
  [
    { upstream: url, upstreams: JSON.stringify({ files: { url: `${url}/v2`, http2: true } }) },
    `upstream.http2 and upstreams.files.http2 differ, but both are at ${url}`,
  ],
  [{ 'areas.files': 'away' }, 'areas.files (from --set areas.files) must be one of local, upstream, off'],
])('%j is refused with a way out', (flags, message) => {
  expect(() => load(flags)).toThrow(message);
  expect(() => load(flags)).not.toThrow('hunter2');
});

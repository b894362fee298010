import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from './runtime-error.ts';
import { logEvent, workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startImpatient, startSession } = useBench();

describe('registration', () => {
  test.each([
    [30_000, 30_000],
    [3_600_000, 60_000],
  ])(
    'waits while another bridge holds the environment for %i ms, and never gives up',
    async (holds, waits) => {
      const occupied = { error: 'already_registered', environment_id: 'env_other', retry_after_ms: holds };
      service.script('register', ...Array.from({ length: 5 }, () => ({ status: 409, body: occupied })));
      const bench = startImpatient({ run: 'true' });
      await bench.until('registered');
      expect(bench.of('occupied')).toEqual(
        Array.from({ length: 5 }, () => ({ type: 'occupied', environmentId: 'env_other', retryInMs: waits })),
      );
    },
  );

  // Half a second of back-off, or what was asked for, and half a second of jitter.
  test.each([
    [-1e9, 1_000],
    [0, 1_000],
    [1e15, 60_500],
  ])('is tried again in good time, whatever the service asks for (%d ms)', async (asked, retryInMs) => {
    const body = { error: 'already_registered', environment_id: 'env_other', retry_after_ms: asked };
    service.script('register', { status: 409, body });
    const random = { fraction: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
    const bench = startImpatient({ run: 'true', random });
    expect(await bench.until('occupied')).toMatchObject({ retryInMs });
  });

  test.each([
    [true, 0],
    [false, 1],
  ])(
    'whose answer was lost is gone on with if the service says that it is ours (%s)',
    async (yours, waits) => {
      const body = { error: 'already_registered', environment_id: 'env_1', yours, retry_after_ms: 30_000 };
      service.script('register', { reset: true }, { status: 409, body });
      const bench = startImpatient({ run: 'true' });
      expect(await bench.until('registered')).toMatchObject({ environmentId: 'env_1', resumed: false });
      expect(bench.of('occupied')).toHaveLength(waits);
      await bench.until('polling');
    },
  );

  test('is of the environment that was named, over the one from before', async () => {
    const first = start({ run: 'true' });
    await first.until('registered');
    await first.stop();
    service.environmentId = 'env_asked';
    const { stateDir } = first;
    const second = start({ run: 'true', stateDir, environmentId: 'env_asked' });
    expect(await second.until('registered')).toEqual({
      type: 'registered',
      environmentId: 'env_asked',
      resumed: false,
    });
    expect((await service.called('register', 2)).body).toMatchObject({ environment_id: 'env_asked' });
  });

  test('of another environment than the one from before says which that was', async () => {
    const first = start({ run: 'true', directory: '/tmp' });
    expect(await first.until('registered')).not.toHaveProperty('instead');
    await first.stop();
    service.environmentId = 'env_2';
    const second = start({ run: 'true', directory: '/tmp', stateDir: first.stateDir });
    expect(await second.until('registered')).toMatchObject({
      environmentId: 'env_2',
      resumed: false,
      instead: 'env_1',
    });
    expect((await service.called('register', 2)).body).toMatchObject({ environment_id: 'env_1' });
  });

  test('of no other environment than the named one is kept', async () => {
    const { result } = start({ run: 'true', environmentId: 'env_asked' });
    await expect(result).rejects.toMatchObject({ code: 'other_environment' });
    expect((await service.called('disconnect')).path).toContain('/env_1/');
    expect(service.calls.all.map(({ route }) => route)).not.toContain('poll');
  });

  test('waits for the named environment while another bridge holds it', async () => {
    const body = { error: 'already_registered', environment_id: 'env_1', retry_after_ms: 30_000 };
    service.script('register', { status: 409, body });
    const bench = startImpatient({ run: 'true', environmentId: 'env_1' });
    await bench.until('registered');
    expect(bench.of('occupied')).toHaveLength(1);
  });

  test('waits through whatever a broken service or proxy answers', async () => {
    service.script(
      'register',
      { status: 500, body: { error: 'internal_error' } },
      { status: 502, raw: '<html>Bad Gateway</html>' },
      { status: 404, raw: '<html>Not Found</html>' },
      { reset: true },
      { status: 200, raw: '<html>Welcome to the hotel</html>' },
      { status: 200, body: {} },
      { status: 503, headers: { 'retry-after': '7' }, body: { error: 'overloaded' } },
    );
    const bench = startImpatient({ run: 'true' });
    await bench.until('registered');
    expect(bench.of('offline')).toHaveLength(7);
    expect(bench.of('offline').at(-1)).toMatchObject({ retryInMs: 7_000 });
  });

  test('tries once with a new device token when it is refused, then asks for a login', async () => {
    const asked: ({ forceRefresh?: boolean } | undefined)[] = [];
    const deviceToken = {
      token: async (options?: { forceRefresh?: boolean }) => {
        asked.push(options);
        return asked.length === 1 ? 'old' : 'new';
      },
    };
    service.script(
      'register',
      ...Array.from({ length: 6 }, () => ({ status: 401, body: { error: 'invalid_token' } })),
    );
    const bench = startImpatient({ run: 'true', deviceToken });
    await bench.until('registered');
    expect(asked.slice(0, 2)).toMatchObject([{}, { forceRefresh: true, refused: 'old' }]);
    // Only once: what a new one does not cure is no matter of the device.
    expect(asked.filter((options) => options?.forceRefresh)).toHaveLength(1);
    expect(bench.of('login_required')[0]).toMatchObject({ retryInMs: 300_000 });
    const registers = service.calls.all.filter(({ route }) => route === 'register');
    expect(registers.at(-1)!.headers['x-trusted-device-token']).toBe('new');
  });

  test('tries a new device token, too, where the source of tokens takes the refusal for its own', async () => {
    const ended = Object.assign(new Error('The service refused the token.'), { code: 'token_refused' });
    const tokens = {
      token: async ({ forceRefresh = false } = {}) => {
        if (forceRefresh) throw ended;
        return 'key';
      },
    };
    const deviceToken = {
      token: async ({ forceRefresh = false } = {}) => (forceRefresh ? 'new' : 'old'),
    };
    service.script('register', { status: 401, body: { error: 'invalid_token' } });
    const bench = start({ run: 'true', tokens, deviceToken });
    await bench.until('registered');
    expect(bench.of('login_required')).toEqual([]);
    expect((await service.called('register', 2)).headers['x-trusted-device-token']).toBe('new');
  });

  test('rejects for a device that was revoked, and asks for no other one', async () => {
    const asked: unknown[] = [];
    const deviceToken = { token: (options?: object) => Promise.resolve(`old ${asked.push(options)}`) };
    service.script('register', { status: 401, body: { error: 'device_revoked' } });
    const bench = start({ run: 'true', deviceToken });
    await expect(bench.result).rejects.toMatchObject({ code: 'device_revoked', status: 401 });
    expect(asked).toHaveLength(1);
  });

  test('asks for a login when the source of tokens has none any more', async () => {
    const ended = Object.assign(new Error('There is no login.'), { code: 'login_required' });
    const bench = start({ run: 'true', tokens: { token: () => Promise.reject(ended) } });
    expect(await bench.until('login_required')).toMatchObject({ error: ended, retryInMs: 300_000 });
    expect(bench.of('offline')).toEqual([]);
    // Five minutes are no reason to stay when told to stop.
    expect(await bench.stop()).toEqual({ reason: 'stopped', killed: false });
  });

  test('ends at once when told to stop while nothing answers', async () => {
    service.script('register', { hang: true });
    const bench = start({ run: 'true' });
    await service.called('register');
    expect(await bench.stop()).toEqual({ reason: 'stopped', killed: false });
  });

  test('rejects when the service does not understand it', async () => {
    service.script('register', { status: 400, body: { error: 'invalid_request' } });
    const bench = start({ run: 'true' });
    await expect(bench.result).rejects.toMatchObject({ status: 400 });
  });

  test("rejects with whose matter it is when this device's token does not arrive", async () => {
    const issues = [{ path: 'headers/x-trusted-device-token', message: 'is required' }];
    service.script('register', { status: 400, body: { error: 'invalid_request', issues } });
    const bench = start({ run: 'true' });
    await expect(bench.result).rejects.toMatchObject({
      code: 'device_token_withheld',
      message: expect.stringMatching(/a gateway in front.*`areas\.bridge`/) as string,
    });
  });

  test('is refused where a bridge runs already', async () => {
    const first = start({ run: 'true', directory: '/tmp' });
    await first.until('polling');
    const second = start({ run: 'true', directory: '/tmp', stateDir: first.stateDir });
    await expect(second.result).rejects.toThrow(RuntimeError);
  });

  test('is removed with `remove`, and the next start begins anew', async () => {
    const first = start({ run: 'true', directory: '/tmp', remove: true });
    await first.until('polling');
    await first.stop();
    expect((await service.called('unregister')).path).toBe('/v1/environments/bridge/env_1');
    expect(first.of('removed')).toEqual([{ type: 'removed', environmentId: 'env_1' }]);
    const second = start({ run: 'true', directory: '/tmp', stateDir: first.stateDir });
    expect(await second.until('registered')).toMatchObject({ resumed: false });
    expect((await service.called('register', 2)).body).not.toHaveProperty('environment_id');
  });
});

describe('polling', () => {
  const taken = { status: 409, body: { error: 'ack_already_processed', yours: false } };

  test('goes on through every kind of failure, and the next good answer starts work', async () => {
    const kinds = [
      { status: 500, body: { error: 'internal_error' } },
      { status: 502, raw: '<html>Bad Gateway</html>' },
      { status: 503, raw: '' },
      { reset: true as const },
      { status: 429, headers: { 'retry-after': '3' }, body: { error: 'rate_limited' } },
      { status: 200, raw: '{"id":"work_1","da' },
      { status: 408, raw: '' },
      { status: 503, headers: { 'retry-after': '0' }, body: { error: 'overloaded' } },
      { status: 503, headers: { 'retry-after': new Date(0).toUTCString() }, body: { error: 'overloaded' } },
    ];
    const each = 20;
    service.script('poll', ...kinds.flatMap((kind) => Array.from({ length: each }, () => kind)));
    service.grantSession('session_a');
    const bench = startImpatient({
      run: 'true',
      random: { fraction: () => 0.5, bytes: (n) => new Uint8Array(n) },
    });
    await bench.until('session.ended');
    const waits = bench.of('offline').map(({ retryInMs }) => Math.round(retryInMs));
    expect(waits).toHaveLength(kinds.length * each);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBe(30_000); // half of a minute, as this chance has it
    expect(new Set(waits.slice(4 * each, 5 * each))).toEqual(new Set([3_300]));
    expect(bench.of('polling')).toHaveLength(1);
  });

  test('takes 204, an empty body, `null` and `{}` for "nothing waits", and does not ask without end', async () => {
    const clock = new ManualClock();
    service.script('poll', { status: 204 }, { raw: '' }, { body: null }, { body: {} });
    const bench = start({ run: 'true', clock });
    await bench.until('polling'); // the first answer is not waited for
    for (let count = 2; count <= 4; count += 1) {
      await service.called('poll', count);
      while (clock.timers < 2) await new Promise((resolve) => setImmediate(resolve)); // wake watch and pause
      expect(service.countOf('poll')).toBe(count);
      await clock.advance(1_000);
    }
    expect((await service.called('poll', 5)).query.get('block_ms')).toBe('25000');
    expect(bench.of('offline')).toEqual([]);
  });

  test('leaves what it does not know unacknowledged, tells it once, and runs the next', async () => {
    const bad = [
      { id: 'work_1', data: { type: 'dance', id: 'session_x' } },
      { id: 'work_2' },
      { id: 'work_3', data: { type: 'session' } },
      { id: 'work_4', data: { type: 'session', id: '../../etc' } },
      { id: 'a/../b', data: { type: 'session', id: 'session_x' } },
    ];
    for (const item of bad) service.grant(item);
    service.grantSession('session_a');
    const bench = start({ run: 'true' });
    await bench.until('session.ended');
    expect(bench.of('work.skipped').map(({ workId }) => workId)).toEqual([
      'work_1',
      'work_2',
      'work_3',
      'work_4',
      'a/../b',
    ]);
    expect(service.countOf('ack')).toBe(1);
  });

  test.each([
    ['that it does not know', { id: 'work_1', data: { type: 'dance' } }, 0],
    ['that another has', { id: 'work_1', data: { type: 'session', id: 'session_x' } }, 3],
  ])('pauses before it hears of the same work again %s', async (_, item, acks) => {
    const clock = new ManualClock();
    for (let n = 0; n < 3; n += 1) service.grant(item);
    service.script('ack', ...Array.from({ length: acks }, () => taken));
    const bench = start({ run: 'true', clock });
    const settled = async () => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await service.called('poll', 2);
    await settled();
    expect(service.countOf('poll')).toBe(2);
    await clock.advance(999);
    await settled();
    expect(service.countOf('poll')).toBe(2);
    await clock.advance(1);
    await service.called('poll', 3);
    expect(bench.of('work.skipped')).toHaveLength(1);
  });

  test('is not kept from other work by five that come again', async () => {
    const bad = [1, 2, 3, 4, 5].map((n) => ({ id: `work_${n}`, data: { type: 'dance' } }));
    for (const item of bad) service.grant(item);
    const clock = new ManualClock();
    const bench = start({ run: 'true', clock });
    await bench.until('work.skipped', 5);
    await service.called('poll', 6);
    await clock.advance(10_000); // after which what nobody acknowledged is delivered again
    for (const item of bad) service.grant(item);
    service.grantSession('session_a');
    await bench.until('session.ended');
  });

  test.each(['poll', 'register'] as const)(
    'stops for good when its device was revoked, and no token is renewed for it (%s)',
    async (route) => {
      const { bench } = await startSession(
        `trap 'exit 6' INT; echo up; while :; do sleep 1000 >&- 2>&- & wait; done`,
      );
      await bench.until('session.output');
      const revoked = { status: 401, body: { error: 'device_revoked' } };
      if (route === 'register') service.script('poll', { status: 404, body: { error: 'not_found' } });
      service.script(route, revoked);
      const before = service.calls.all.filter((call) => call.route === route).length;
      service.grant({});
      expect(await bench.result).toEqual({ reason: 'device_revoked', killed: false });
      expect(bench.of('device_revoked')).toEqual([{ type: 'device_revoked', environmentId: 'env_1' }]);
      expect(bench.of('session.ended')).toMatchObject([{ reason: 'stopped', exitCode: 6 }]);
      expect(bench.of('login_required')).toEqual([]);
      if (route === 'register')
        expect(service.calls.all.filter((call) => call.route === route)).toHaveLength(before + 1);
    },
  );

  test('stops for good when the environment was deleted', async () => {
    const { bench } = await startSession(
      `trap 'exit 6' INT; echo up; while :; do sleep 1000 >&- 2>&- & wait; done`,
    );
    await bench.until('session.output');
    service.script('poll', { status: 404, body: { error: 'environment_deleted' } });
    service.grant({});
    expect(await bench.result).toEqual({ reason: 'environment_deleted', killed: false });
    expect(bench.of('session.ended')).toMatchObject([{ reason: 'stopped', exitCode: 6 }]);
  });

  test('registers again with the same id when the registration is unknown', async () => {
    service.script('poll', { status: 404, body: { error: 'not_found' } });
    const bench = start({ run: 'true' });
    await bench.until('registered', 2);
    expect((await service.called('register', 2)).body).toMatchObject({ environment_id: 'env_1' });
  });

  test('waits for a login, or for permission, while sessions go on', async () => {
    const refusal = (status: number, error: string) => ({ status, body: { error } });
    const bench = startImpatient({ run: 'read line; echo "$line"', interactive: true });
    service.grantSession('session_a');
    await service.streams.until(() => true);
    service.script(
      'poll',
      refusal(401, 'invalid_token'),
      refusal(401, 'invalid_token'),
      refusal(403, 'forbidden'),
    );
    service.grant({});
    expect(await bench.until('login_required')).toMatchObject({ retryInMs: 300_000 });
    expect(await bench.until('refused')).toMatchObject({ retryInMs: 60_000 });
    await bench.until('polling', 2);
    service.backlog = [logEvent(1, 'control.input', { text: 'go' })];
    service.streams.all.at(-1)!.socket.terminate();
    expect(await bench.until('session.ended')).toMatchObject({ exitCode: 0 });
  });

  test('goes on at once when a person has logged in again', async () => {
    const { promise: changed, resolve: logIn } = Promise.withResolvers<undefined>();
    const tokens = { token: async () => 'access', changed: () => changed };
    const bench = start({ run: 'true', tokens, clock: new ManualClock() });
    await bench.until('polling');
    const refusal = { status: 401, body: { error: 'invalid_token' } };
    service.script('poll', refusal, refusal);
    service.grant({});
    await bench.until('login_required');
    logIn(undefined);
    await bench.until('polling', 2);
  });

  test('asks for nothing at capacity, and at once again when a session has ended', async () => {
    const { stream } = await startSession('read line', { maxSessions: 1, interactive: true });
    const full = await service.called('poll', 2);
    expect(full.query.get('capacity')).toBe('0');
    service.grantSession('session_b');
    stream.send({ id: 'e', seq: 1, type: 'control.input', session_id: 's', data: { text: 'go' } });
    await service.streams.until(() => true, 2);
    expect((await service.called('poll', 3)).query.get('capacity')).toBeNull();
  });

  test('after an outage lets its sessions return before it asks for work', async () => {
    const { bench, stream } = await startSession('sleep 1000');
    await service.called('poll', 2);
    service.script('handshake', { status: 503, headers: { 'retry-after': '60' } });
    service.script('poll', { reset: true });
    stream.socket.close(4401);
    await bench.until('session.disconnected', 2);
    const before = service.calls.all.length;
    service.grant({});
    await service.called('poll', 5);
    const calls = service.calls.all.slice(before).map(({ route, query }) => [route, query.get('capacity')]);
    expect(calls).toEqual([
      ['poll', null], // cut
      ['poll', '0'],
      ['handshake', null],
      ['worker', null],
      ['stream', null],
      ['poll', null],
    ]);
  });

  test('ends after one session with `once`', async () => {
    service.grantSession('session_a');
    service.grantSession('session_b');
    const bench = start({ run: 'exit 4', once: true });
    expect(await bench.result).toEqual({ reason: 'once', killed: false });
    expect(bench.of('session.ended')).toMatchObject([{ sessionId: 'session_a', exitCode: 4 }]);
  });
});

describe('an acknowledgement', () => {
  const conflict = (details: object) => ({
    status: 409,
    body: { error: 'ack_already_processed', ...details },
  });

  test.each([
    ['of our own, repeated after a lost answer', [{ reset: true as const }, conflict({})]],
    ['that was ours before', [conflict({ yours: true, state: 'active' })]],
    ['that fails at first', [{ status: 503 }, { status: 500, raw: '<html>' }]],
  ])('%s: the session runs', async (_, answers) => {
    service.script('ack', ...answers);
    service.grantSession('session_a');
    const bench = start({ run: 'true' });
    await bench.until('session.ended');
  });

  test.each([
    ['another has it', conflict({ yours: false })],
    ['another has it, and nobody says who', conflict({})],
    ['it was stopped', { status: 409, body: { error: 'work_stopped' } }],
    ['it ended', conflict({ yours: true, state: 'stopped' })],
    ['it is gone', { status: 404, body: { error: 'not_found' } }],
  ])('refused because %s: nothing is spawned, other work runs', async (_, answer) => {
    service.script('ack', answer);
    service.grantSession('session_a');
    service.grantSession('session_b');
    const bench = start({ run: 'true' });
    await bench.until('session.ended');
    expect(bench.of('session.started').map(({ sessionId }) => sessionId)).toEqual(['session_b']);
    expect(bench.of('work.skipped')).toMatchObject([{ workId: workOf('session_a') }]);
  });

  test('of a session that runs here already merges the two', async () => {
    const { bench } = await startSession('echo up; sleep 1000', { maxSessions: 2 });
    await bench.until('session.output');
    service.grantSession('session_a', 'work_again');
    await service.streams.until(() => true, 2);
    const handshakes = service.calls.all.filter(({ route }) => route === 'handshake');
    expect(handshakes.map(({ headers }) => headers['x-worker-token'])).toEqual([undefined, 'jwt-1']);
    expect(service.countOf('ack')).toBe(2);
    expect(bench.of('session.started')).toHaveLength(1);
  });

  test('of a session that is only starting merges the two, too', async () => {
    const { promise: after, resolve: answer } = Promise.withResolvers<undefined>();
    const body = { worker_jwt: 'jwt-1', api_base_url: service.url, worker_epoch: 1 };
    service.script('handshake', { after, body });
    service.grantSession('session_a');
    const bench = start({ run: 'echo up; sleep 1000', maxSessions: 2 });
    await service.called('handshake');
    service.grantSession('session_a');
    await service.called('poll', 3); // the second one is acknowledged
    answer(undefined);
    await bench.until('session.output');
    expect(service.countOf('ack')).toBe(2);
    expect(bench.of('session.started')).toHaveLength(1);
  });
});

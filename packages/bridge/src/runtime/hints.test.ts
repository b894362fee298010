import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { logEvent, workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start } = useBench();

const nextHints = (count = 1) => service.hints.until(() => true, count);
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a hint', () => {
  test('of work makes a bridge poll at once that rests between polls', async () => {
    const clock = new ManualClock();
    service.givesHints = true;
    service.holdsNothing = true;
    const bench = start({ run: 'true', clock });
    const hints = await nextHints();
    expect(hints.token).toBe('access');
    // Two polls and it rests: the first one asks whether the link works.
    await service.called('poll', 2);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(service.countOf('poll')).toBe(2);
    service.grantSession('session_a');
    hints.send({ type: 'work.available', work_id: workOf('session_a') });
    await bench.until('session.ended');
    expect(service.countOf('ack')).toBe(1);
  });

  test('of a kind that is not known, or torn, is passed over', async () => {
    service.givesHints = true;
    const bench = start({ run: 'true' });
    const hints = await nextHints();
    for (const hint of [{ type: 'of.tomorrow' }, {}, [], { type: 'work.stop' }]) hints.send(hint);
    hints.socket.send('{"type":');
    hints.socket.send(Buffer.from([1, 2]));
    service.grantSession('session_a');
    await bench.until('session.ended');
    expect(service.hints.all).toHaveLength(1);
  });

  test('of a stop ends a session that has no stream to hear it on', async () => {
    const clock = new ManualClock();
    service.givesHints = true;
    service.grantSession('session_a');
    const bench = start({ run: 'echo up; sleep 1000', clock, random: halfway });
    const stream = await service.streams.until(() => true);
    await bench.until('session.output');
    const stopped = { status: 409, body: { error: 'ack_already_processed', yours: true, state: 'stopped' } };
    service.script('ack', stopped);
    service.script('stream', { status: 503 });
    stream.socket.terminate();
    await bench.until('session.disconnected');
    (await nextHints()).send({ type: 'work.stop', work_id: workOf('session_a'), force: true });
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'session_ended', signal: 'SIGKILL' });
  });

  test('of a stop asks nothing of a session that hears it anyway', async () => {
    service.givesHints = true;
    service.grantSession('session_a');
    const bench = start({ run: 'read -r line', interactive: true });
    const stream = await service.streams.until(() => true);
    await bench.until('session.started');
    (await nextHints()).send({ type: 'work.stop', work_id: workOf('session_a'), force: false });
    stream.send(logEvent(1, 'control.input', { text: 'x' }));
    await bench.until('session.ended');
    expect(service.countOf('ack')).toBe(1);
  });
});

const halfway = { fraction: () => 0.5, bytes: (length: number) => new Uint8Array(length) };

describe('the stream of hints', () => {
  test('is nothing that anyone misses: without it work comes by polls, and nobody is told', async () => {
    service.givesHints = true;
    service.script('hints', { status: 500 }, { status: 404 });
    service.grantSession('session_a');
    const bench = start({ run: 'true' });
    await bench.until('session.ended');
    await service.called('hints', 2);
    expect(bench.of('offline')).toEqual([]);
    expect(service.hints.all).toEqual([]);
  });

  test('is opened again after its end, with a fresh token where the old one was refused', async () => {
    service.givesHints = true;
    const tokens = {
      token: async ({ refused }: { refused?: string } = {}) => (refused === undefined ? 'old' : 'new'),
    };
    start({ run: 'true', tokens });
    const first = await nextHints();
    service.script('hints', { status: 401 });
    first.socket.close(1012);
    expect((await nextHints(2)).token).toBe('new');
  });

  test('is opened again when a draining service says', async () => {
    const clock = new ManualClock();
    service.givesHints = true;
    start({ run: 'true', clock });
    const first = await nextHints();
    first.send({ type: 'draining', reconnect_in_ms: 7_000 });
    first.socket.close(1012);
    while (clock.timers < 2) await turn();
    await clock.advance(6_999);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(service.countOf('hints')).toBe(1);
    while (service.countOf('hints') < 2) {
      await clock.advance(1);
      await turn();
    }
  });

  test.each([1000, 1012, 4401])(
    'that ends at once each time, with %i, is opened ever more slowly',
    async (code) => {
      const clock = new ManualClock();
      service.givesHints = true;
      start({ run: 'true', clock, random: halfway });
      for (let opened = 1; opened <= 4; opened += 1) {
        (await nextHints(opened)).socket.close(code);
        for (let turns = 0; turns < 50; turns += 1) await clock.advance(0);
        expect(service.countOf('hints')).toBe(opened);
        // Half of 1, 2, 4, 8 s.
        await clock.advance(500 * 2 ** (opened - 1) + 1);
      }
      await nextHints(5);
    },
  );

  test('is opened anew after the machine slept', async () => {
    const clock = new ManualClock();
    service.givesHints = true;
    start({ run: 'true', clock });
    await nextHints();
    clock.jump(30_000);
    await clock.advance(5_000);
    await nextHints(2);
  });

  test('ends before the farewell, for it would be a sign of life after it', async () => {
    service.givesHints = true;
    const bench = start({ run: 'true' });
    const { socket } = await nextHints();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await bench.stop();
    await closed;
  });

  test('takes no token to another origin', async () => {
    service.script('register', {
      body: { environment_id: 'env_1', bridge_ws_url: 'ws://localhost:1/v1/environments/env_1/bridge/ws' },
    });
    const said: string[] = [];
    const log = {
      debug: () => undefined,
      info: (_: unknown, text: string) => said.push(text),
      warn: () => undefined,
      error: () => undefined,
    };
    const bench = start({ run: 'true', log });
    await bench.until('polling');
    expect(said.filter((text) => text.includes('another origin'))).toHaveLength(1);
  });
});

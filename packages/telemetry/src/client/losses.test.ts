import { describe, expect, test } from 'vitest';
import { emit, makeBatcher, names, scratch } from '../../test/batcher.ts';
import { attributeOf, malformed, startSink, type SinkRequest } from '../../test/sink.ts';
import { openSpool } from '../spool/spool.ts';
import type { TelemetryBatcher } from './batcher.ts';

/** An event that cannot be read. */
function lose(batcher: TelemetryBatcher): void {
  const attributes = {
    get bad(): string {
      throw new Error('no');
    },
  };
  batcher.emit({ name: 'lost', attributes });
}

/** What the notices of lost events say, by reason. */
function lossesIn(requests: readonly SinkRequest[]): Readonly<Record<string, unknown>> {
  const notices = requests
    .flatMap(({ events }) => events)
    .filter((event) => attributeOf(event, 'event.name') === 'telemetry.dropped');
  return Object.fromEntries(
    notices.map((notice) => [String(attributeOf(notice, 'reason')), attributeOf(notice, 'count')]),
  );
}

describe('losses', () => {
  test('a full queue loses the oldest of the least severe, says so to the hook and to the service, once a flush', async () => {
    const sink = await startSink();
    const heard: [string, number][] = [];
    const { batcher } = makeBatcher({
      baseUrl: sink.baseUrl,
      queue: { maxEvents: 10 },
      allowAttributes: [],
      onDrop: (reason, count) => heard.push([reason, count]),
    });
    batcher.report({ name: 'boom', severity: 'error' });
    emit(batcher, 14);
    batcher.emit({
      name: 'x',
      attributes: {
        get bad(): string {
          throw new Error('no');
        },
      },
    });
    expect(batcher.stats()).toMatchObject({ waiting: 10, dropped: { overflow: 5, invalid: 1 } });
    await batcher.flush();
    // The notice itself took one more's place.
    expect(sink.names()).toEqual(['boom', ...names(8, 6), 'telemetry.dropped']);
    const notice = sink.requests[0]!.events.at(-1)!;
    expect([attributeOf(notice, 'reason'), attributeOf(notice, 'count')]).toEqual(['overflow', '5']);
    expect(heard).toEqual([
      ...Array.from({ length: 5 }, () => ['overflow', 1]),
      ['invalid', 1],
      ['overflow', 1],
    ]);
  });

  test('what a program could not report before its end, the next one reports', async () => {
    const sink = await startSink(() => ({ status: 503 }));
    const { spoolDir } = scratch();
    const first = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, queue: { maxEvents: 2 } });
    emit(first.batcher, 1);
    await first.batcher.flush();
    emit(first.batcher, 5);
    await first.batcher.shutdown();
    expect(first.batcher.stats()).toMatchObject({ waiting: 0, dropped: { overflow: 3 } });

    sink.script = () => ({ status: 200 });
    const before = sink.requests.length;
    await makeBatcher({ baseUrl: sink.baseUrl, spoolDir }).batcher.flush();
    const notice = sink.requests
      .slice(before)
      .flatMap(({ events }) => events)
      .find((event) => attributeOf(event, 'event.name') === 'telemetry.dropped')!;
    expect([attributeOf(notice, 'reason'), attributeOf(notice, 'count')]).toEqual(['overflow', '3']);
  });

  test('at the end losses of every kind are told, those of the last request too', async () => {
    const sink = await startSink((_, index) =>
      index === 0 ? { status: 400, body: malformed(1) } : { status: 200 },
    );
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, queue: { maxEvents: 10 } });
    emit(batcher, 11);
    lose(batcher);
    await batcher.shutdown();
    expect(sink.requests.length).toBe(3);
    expect(lossesIn(sink.requests.slice(1))).toEqual({ overflow: '1', invalid: '1', refused: '1' });
  });

  test('what a program lost of every kind, and could not tell before its end, the next one tells', async () => {
    const sink = await startSink(() => ({ status: 503 }));
    const { spoolDir } = scratch();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, queue: { maxEvents: 10 } });
    emit(batcher, 1);
    await batcher.flush();
    emit(batcher, 12);
    lose(batcher);
    await batcher.shutdown();
    const before = sink.requests.length;
    sink.script = () => ({ status: 200 });
    await makeBatcher({ baseUrl: sink.baseUrl, spoolDir }).batcher.flush();
    expect(lossesIn(sink.requests.slice(before))).toEqual({ overflow: '2', invalid: '1' });
  });

  test('what grows too old on the disk, or has no room there, is counted and reported', async () => {
    const sink = await startSink(() => ({ status: 503 }));
    const { spoolDir } = scratch();
    // In memory a character counts as one byte: all have room there, but not on the disk.
    const queue = { maxEvents: 1000, maxBytes: 2 ** 30 };
    const full = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, queue });
    for (let index = 0; index < 300; index += 1)
      full.batcher.emit({ name: 'x', attributes: { text: '語'.repeat(15_000) } });
    await full.batcher.shutdown();
    const kept = openSpool({ directory: spoolDir, clock: full.clock }).peek().length;
    expect(kept).toBeGreaterThan(200);
    // And the notice of that.
    expect(full.batcher.stats()).toMatchObject({ spooled: 301, dropped: { expired: 301 - kept } });

    sink.script = () => ({ status: 200 });
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    await clock.advance(8 * 24 * 3600 * 1000);
    emit(batcher, 1);
    await batcher.flush();
    expect(batcher.stats()).toMatchObject({ sent: 1, dropped: { expired: kept } });
    await batcher.flush();
    expect(sink.names().slice(-2)).toEqual(['e0', 'telemetry.dropped']);
  });

  test.each([{}, { sampling: { x: 0.5, '*': 0.5 } }, { allowAttributes: ['a'] }])(
    'neither emit nor report throws, nor do hooks that do: %j',
    (options) => {
      const { batcher } = makeBatcher({
        baseUrl: 'http://127.0.0.1:9',
        ...options,
        onDrop: () => {
          throw new Error('hook');
        },
      });
      const refuse = () => {
        throw new Error('no');
      };
      const hostile = new Proxy({ name: 'x' }, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse });
      const badSession = Object.defineProperty({}, 'session.id', { enumerable: true, get: refuse });
      const unreadable: unknown[] = [
        hostile,
        undefined,
        null,
        1,
        { name: Symbol('x') },
        { name: 'x', attributes: hostile },
      ];
      unreadable.push({ name: 'x', attributes: { a: hostile } }, { name: 'x', attributes: badSession });
      for (const event of unreadable as { name: string }[]) {
        expect(() => batcher.emit(event)).not.toThrow();
        expect(() => batcher.report(event)).not.toThrow();
      }
      const { dropped, sampledOut } = batcher.stats();
      expect((dropped.invalid ?? 0) + sampledOut).toBe(2 * unreadable.length);
    },
  );

  test('what changes after the emit does not change the event', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    const attributes = { text: 'before', list: ['before'] };
    const simple = { name: 'x', body: 'before', attributes: { text: 'before' } };
    batcher.emit({ name: 'x', attributes });
    batcher.emit(simple);
    attributes.text = attributes.list[0] = simple.body = simple.attributes.text = 'after';
    await batcher.flush();
    expect(sink.requests[0]!.text).toContain('before');
    expect(sink.requests[0]!.text).not.toContain('after');
  });
});

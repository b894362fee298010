import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxFrameBytes } from '../protocol/frames.ts';
import { OutputLines } from './output.ts';

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventsOf(chunks: readonly (string | Uint8Array)[], stream: 'stdout' | 'stderr' = 'stdout'): Event[] {
  const events: Event[] = [];
  const lines = new OutputLines(stream, (type, data) => events.push({ type, data }));
  for (const chunk of chunks) lines.write(Buffer.from(chunk as string));
  lines.end();
  return events;
}

/** The bytes that a consumer puts together again. */
function bytesOf(events: readonly Event[]): Buffer {
  const parts = events.map(({ data: { text, base64, partial } }) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(String(base64), 'base64');
    return partial === true ? bytes : Buffer.concat([bytes, Buffer.from('\n')]);
  });
  return Buffer.concat(parts);
}

describe('a line of standard output', () => {
  test('that is a JSON object with a type is an event; its data are `data`, or its other members', () => {
    expect(eventsOf(['{"type":"tool.call","data":{"a":1},"id":"mine"}\n', '{"type":"x","b":[2]}'])).toEqual([
      { type: 'tool.call', data: { a: 1 } },
      { type: 'x', data: { b: [2] } },
    ]);
  });

  test.each([
    '{"type":1}',
    '{"a":1}',
    '["type"]',
    '{"type":""}',
    '{"type":"worker.exited","exit_code":0}',
    '{"type":"control.stop"}',
    '{"type":"session.updated","status":"done"}',
    '{"type":"ack","seq":99}',
    '{"type":"auth","token":"x"}',
    '{torn',
    'plain \u{1f600}',
    '',
  ])('is output where it is anything else, or speaks for the runtime: %s', (line) => {
    expect(eventsOf([`${line}\n`])).toEqual([
      { type: 'session.output', data: { stream: 'stdout', text: line } },
    ]);
  });

  test('that nests deeper than the service takes is output', () => {
    for (const depth of [300, 6000, 100_000]) {
      const line = `{"type":"x","data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth + 1)}`;
      const events = eventsOf([line]);
      expect(events.map(({ type }) => type)).toEqual(events.map(() => 'session.output'));
      expect(bytesOf(events).toString()).toBe(`${line}\n`);
    }
  });

  test('of standard error is output, whatever it says', () => {
    const line = '{"type":"tool.call"}';
    expect(eventsOf([line], 'stderr')).toEqual([
      { type: 'session.output', data: { stream: 'stderr', text: line } },
    ]);
  });

  test('that is not UTF-8 comes as base64', () => {
    const bytes = Uint8Array.of(0xff, 0x00, 0xfe);
    expect(eventsOf([bytes])).toEqual([
      { type: 'session.output', data: { stream: 'stdout', base64: Buffer.from(bytes).toString('base64') } },
    ]);
  });

  test('that is a long JSON object is one event; beyond a frame it is quoted in parts', () => {
    const fits = JSON.stringify({ type: 'tool.result', text: 'x'.repeat(maxFrameBytes - 2048) });
    expect(eventsOf([`${fits}\n`]).map(({ type }) => type)).toEqual(['tool.result']);
    const tooLong = `{"type":"tool.result","text":"${'x'.repeat(maxFrameBytes)}"}`;
    const parts = eventsOf([`${tooLong}\n{"type":"next"}\n`]);
    expect(parts.slice(0, -1).every(({ type }) => type === 'session.output')).toBe(true);
    expect(parts.at(-1)).toEqual({ type: 'next', data: {} });
    expect(bytesOf(parts.slice(0, -1)).equals(Buffer.from(`${tooLong}\n`))).toBe(true);
  });

  test('that goes on and on leaves in parts before its end, none in the middle of a character', () => {
    const text = `${'\u{1f600}'.repeat(100_000)}{"type":"x"}`;
    const events: Event[] = [];
    const lines = new OutputLines('stdout', (type, data) => events.push({ type, data }));
    const bytes = Buffer.from(text);
    for (const part of [bytes.subarray(0, 150_001), bytes.subarray(150_001)]) lines.write(part);
    expect(events.length).toBeGreaterThan(0);
    lines.write(Buffer.from('\n'));
    expect(events.every(({ data }) => typeof data['text'] === 'string')).toBe(true);
    expect(events.map(({ data }) => data['partial'])).toEqual([
      ...Array.from({ length: events.length - 1 }, () => true),
      undefined,
    ]);
    expect(bytesOf(events).equals(Buffer.from(`${text}\n`))).toBe(true);
  });

  test('of the worst bytes still fits into a frame', () => {
    for (const { data } of eventsOf(['\u0001'.repeat(500_000)]))
      expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(maxFrameBytes);
  });
});

test('however the bytes are cut into chunks, the same ones come out', () => {
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom('\n', 'a', '{"type":"worker.x"}', '\u{1f600}').map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 20 }), (chunks) => {
      const whole = Buffer.concat(chunks);
      const quoted = Buffer.concat([Buffer.from('> '), whole]); // never an event
      const lines = eventsOf([quoted.subarray(0, 2), ...chunks]);
      const ending = quoted.at(-1) === 0x0a ? [] : [Buffer.from('\n')];
      const isQuoted = lines.every(({ type }) => type === 'session.output');
      if (isQuoted) expect(bytesOf(lines)).toEqual(Buffer.concat([quoted, ...ending]));
      expect(lines).toEqual(eventsOf([quoted]));
    }),
  );
});

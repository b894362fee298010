import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readServerSentEvents, type ServerSentEvent } from './sse.ts';

async function parse(text: string, cuts: readonly number[] = []): Promise<ServerSentEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const at = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  async function* chunks() {
    for (let i = 1; i < at.length; i += 1) yield await Promise.resolve(bytes.subarray(at[i - 1], at[i]));
  }
  const events: ServerSentEvent[] = [];
  for await (const event of readServerSentEvents(chunks())) events.push(event);
  return events;
}

const everyMebibyte = Array.from({ length: 20 }, (_, index) => index * 2 ** 20);

test('the examples of the standard', async () => {
  expect(await parse('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual([
    { event: 'message', data: 'YHOO\n+2\n10' },
  ]);
  expect(
    await parse(
      ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
    ),
  ).toEqual([
    { event: 'message', data: 'first event', id: '1' },
    { event: 'message', data: 'second event', id: '' },
    { event: 'message', data: ' third event', id: '' },
  ]);
  expect(await parse('data\n\ndata\ndata\n\ndata:')).toEqual([
    { event: 'message', data: '' },
    { event: 'message', data: '\n' },
  ]);
  expect(await parse('event: caught_up\ndata: {}\n\n')).toEqual([{ event: 'caught_up', data: '{}' }]);
});

test('an id with a NUL is ignored, a byte order mark is skipped', async () => {
  expect(await parse('\uFEFFid: 7\ndata: a\n\nid: 8\0\ndata: b\n\n')).toEqual([
    { event: 'message', data: 'a', id: '7' },
    { event: 'message', data: 'b', id: '7' },
  ]);
});

test.each([
  ['a line', 'data: ', ''],
  ['an event', 'data: ', '\n'],
])('%s without end is given up', async (_, begin, end) => {
  const text = (begin + 'x'.repeat(2 ** 20) + end).repeat(20);
  await expect(parse(text, everyMebibyte)).rejects.toMatchObject({ code: 'unexpected_answer' });
});

test('comments may go on for as long as they like', async () => {
  expect(await parse(`: ${'x'.repeat(2 ** 20)}\n`.repeat(20), everyMebibyte)).toEqual([]);
});

test('any chunking and any line ending give the same events', async () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !/[\r\n\0]/.test(text));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(line, { minLength: 1, maxLength: 3 }), fc.option(line)), { maxLength: 5 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(), { maxLength: 20 }),
      async (sent, ending, cuts) => {
        const text = sent
          .map(([data, id]) =>
            [...(id === null ? [] : [`id: ${id}`]), ...data.map((d) => `data: ${d}`), '', ''].join(ending),
          )
          .join('');
        const received = await parse(
          text + 'event: end' + ending + 'data: x' + ending + ending + ':' + ending,
          cuts,
        );
        expect(received.map(({ data }) => data)).toEqual([...sent.map(([data]) => data.join('\n')), 'x']);
      },
    ),
  );
});

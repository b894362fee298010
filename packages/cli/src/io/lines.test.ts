import { expect, test } from 'vitest';
import { lines } from './lines.ts';

async function* chunks(...all: readonly Buffer[]) {
  yield* all;
}

async function all(found: AsyncIterable<string>): Promise<string[]> {
  const seen: string[] = [];
  for await (const line of found) seen.push(line);
  return seen;
}

test('lines come whole however they arrive, the last one without an end, too', async () => {
  const bytes = Buffer.from('one\r\n\nzwölf\nlast');
  for (let at = 0; at <= bytes.length; at += 1)
    expect(await all(lines(chunks(bytes.subarray(0, at), bytes.subarray(at))))).toEqual([
      ...['one', '', 'zwölf', 'last'],
    ]);
});

test('a line without an end is not kept for good', async () => {
  await expect(all(lines(chunks(Buffer.from('a\n'), Buffer.alloc(11, 'x')), 10))).rejects.toThrow(
    /longer than 10/,
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf, Packer } from './batch.ts';

const bodyOf = (lines: readonly string[]) => `{"events":[${lines.join(',')}]}`;
const line = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text));

/** The plain way: as many as fit, each with the comma before or the bracket behind it. */
function split(lines: readonly string[], maxEvents: number, maxBytes: number): string[][] {
  const batches: string[][] = [];
  for (const one of lines) {
    const open = batches.at(-1);
    const bytes = [...(open ?? []), one].reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0);
    if (open && open.length < maxEvents && bytes <= maxBytes) open.push(one);
    else batches.push([one]);
  }
  return batches;
}

test('events are packed within both bounds, in order, and come out as they went in', () => {
  const bounds = [fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 80 })] as const;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), ...bounds, (lines, maxEvents, maxBytes) => {
      const packer = new Packer({ maxEvents, maxBytes });
      const expected = split(lines, maxEvents, maxBytes);
      const batches = packer.packLines(lines);
      expect(batches.map(({ body }) => body.toString())).toEqual(expected.map(bodyOf));
      expect(batches.map(linesOf)).toEqual(expected);
    }),
  );
});

test('what is not written leaves no trace', () => {
  const packer = new Packer({ maxEvents: 50, maxBytes: 1000 });
  const batches = packer.pack(['1', '2', '3', '4'], (event, into) => {
    into.ascii(event);
    return event === '2' || event === '3';
  });
  expect(batches.map(({ body }) => body.toString())).toEqual(['{"events":[2,3]}']);
  expect(packer.pack(['1'], () => false)).toEqual([]);
});

test('a room is used again, but for neither of the next two batches', () => {
  const packer = new Packer({ maxEvents: 50, maxBytes: 1000 });
  const next = () => packer.pack(['x'], (event, into) => (into.ascii(event), true))[0];
  const first = next();
  const second = next();
  if (first) packer.recycle(first);
  const third = next();
  if (second) packer.recycle(second);
  const fourth = next();
  expect(new Set([first?.room, second?.room, third?.room]).size).toBe(3);
  expect(fourth?.room).toBe(first?.room);
});

test('of many batches none holds a room', () => {
  const packer = new Packer({ maxEvents: 1, maxBytes: 1000 });
  expect(packer.packLines(['1', '2']).map(({ room }) => room)).toEqual([undefined, undefined]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter, pieceOf } from './byte-writer.ts';

const wellFormed = fc.string({ unit: 'binary' });

test('a quoted text is what JSON.stringify makes of it', () => {
  const text = fc.oneof(
    wellFormed,
    fc.string(),
    fc.constantFrom('', 'plain', '"', '\\', '\u007f', '\u2028', '~ !#[]'),
    fc.string({ minLength: 10, maxLength: 14 }),
  );
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const into = new ByteWriter();
      for (const one of texts) into.quoted(one);
      expect(into.toString()).toBe(texts.map((one) => JSON.stringify(one)).join(''));
    }),
  );
});

test('digits are what String makes of a number', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 10 }), (value, least) => {
      const into = new ByteWriter();
      into.digits(value, least);
      expect(into.toString()).toBe(String(value).padStart(least, '0'));
    }),
  );
});

test('it grows, forgets and copies', () => {
  const into = new ByteWriter();
  const piece = pieceOf('é'.repeat(50_000));
  into.ascii('begin');
  const start = into.length;
  into.piece(piece);
  into.text('ü'.repeat(50_000));
  expect(into.length).toBe(5 + 200_000);
  into.length = start + piece.length;
  expect(into.copy(start)).toEqual(piece);
  const view = into.view();
  expect(view.toString()).toBe(`begin${'é'.repeat(50_000)}`);
});

import { expect, test } from 'vitest';
import { parseMoment } from './duration.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

test.each([
  ['1h30m', '2026-03-01T10:30:00.000Z'],
  ['90s', '2026-03-01T11:58:30.000Z'],
  ['2w', '2026-02-15T12:00:00.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
  ['9999999w', '1970-01-01T00:00:00.000Z'],
])('%s is a moment', (text, at) => {
  expect(new Date(parseMoment(text)!(now)).toISOString()).toBe(at);
});

test.each(['', 'yesterday', '0h', '-1h', '5', '2026-13-01', '1 h', '30m1h'])('%j is none', (text) => {
  expect(parseMoment(text)).toBe(undefined);
});

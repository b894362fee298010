import { expect, test } from 'vitest';
import { toEvent } from './event.ts';

test.each([
  [10, 1],
  [20, 5],
  [30, 9],
  [35, 13],
  [40, 13],
  [50, 17],
  [60, 21],
  [0, 1],
  [1000, 24],
])('level %i is severity %i', (level, severityNumber) => {
  expect(toEvent({ level }).severityNumber).toBe(severityNumber);
});

test.each([
  ['warn', 13],
  ['ERROR', 17],
  ['notice', undefined],
])('a level may be written as a name: %s', (level, severityNumber) => {
  expect(toEvent({ level })).toMatchObject({ severityText: level });
  expect(toEvent({ level }).severityNumber).toBe(severityNumber);
});

test.each([
  [1_700_000_000_123, '1700000000123000000'],
  ['2023-11-14T22:13:20.123Z', '1700000000123000000'],
  ['yesterday', undefined],
  [1e21, `${10n ** 27n}`],
  [Infinity, undefined],
  [-1, undefined],
  [undefined, undefined],
])('time %j is %s', (time, timeUnixNano) => {
  expect(toEvent({ time }).timeUnixNano).toBe(timeUnixNano);
});

test('what stands beside an error is kept, and what is no error, too', () => {
  expect(toEvent({ err: { type: 'E', message: 'm', stack: 's', code: 'C' } }).attributes).toMatchObject({
    'exception.type': 'E',
    'exception.message': 'm',
    'exception.stacktrace': 's',
    err: { code: 'C' },
  });
  expect(toEvent({ err: 'text' }).attributes).toMatchObject({ err: 'text' });
});

import { expect, test } from 'vitest';
import { placeInLog, resumeFrom } from './resume.ts';

test("a browser's Last-Event-ID is newer than the query of its address", () => {
  expect(resumeFrom(undefined, undefined)).toBeUndefined();
  expect(resumeFrom(3, undefined)).toBe(3);
  expect(resumeFrom(3, '')).toBe(3);
  expect(resumeFrom(3, '7')).toBe(7);
  expect(resumeFrom(3, 'evt_01')).toBe('unknown');
  expect(resumeFrom(3, '-1')).toBe('unknown');
});

test('a place that the log does not have is told and answered with its oldest event', () => {
  const log = { oldestSeq: 5, lastSeq: 9 };
  for (const after of [4, 5, 9]) expect(placeInLog(after, log, 0)).toEqual({ after, isLost: false });
  for (const after of [3, 10, 'unknown'] as const)
    expect(placeInLog(after, log, 0)).toEqual({ after: 4, isLost: true });
  expect(placeInLog(undefined, log, 7)).toEqual({ after: 7, isLost: false });
  expect(placeInLog(undefined, log, 0)).toEqual({ after: 4, isLost: true });
  expect(placeInLog(undefined, { oldestSeq: 1, lastSeq: 0 }, 0)).toEqual({ after: 0, isLost: false });
});

import { ServiceError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { describeFailure } from './failure.ts';

test.each([
  ['an error with a cause', new Error('', { cause: new Error('deeper') }), 'deeper.'],
  ['several errors', new AggregateError([new Error('a'), new Error('b')]), 'a; b.'],
  ['the system without a message', Object.assign(new Error(''), { code: 'EIO', syscall: 'write' }), 'EIO.'],
  ['several lines', new Error('one\n    two\n'), 'one two.'],
  ['a question', new Error('Is it there?'), 'Is it there?'],
  ['an object', { status: 500 }, '{"status":500}.'],
  ['nothing', undefined, 'no reason was given.'],
  ['null', null, 'no reason was given.'],
])('%s is one sentence and a next step', (_, thrown, sentence) => {
  const next = 'Run with SALLYPORT_LOG_LEVEL=debug for more.';
  expect(describeFailure(thrown, {})).toEqual({ message: `${sentence} ${next}`, exitCode: 1 });
});

test('a refusal says what it says', () => {
  const refusal = new ServiceError('not_found', 'It is not there.', { details: { deep: { er: 1 } } });
  expect(describeFailure(refusal, {})).toEqual({ message: 'It is not there.', exitCode: 1 });
});

test.each([
  ['ENOENT', '/x cannot be used: no such file or directory. Mend the path'],
  ['EACCES', '/x cannot be used: permission is denied. Make it writable'],
  ['ENOSPC', '/x cannot be used: the disk is full. Make room'],
])('a file that the system refuses is told in words: %s', (code, words) => {
  const error = Object.assign(new Error(`${code}: no such file or directory, open '/x'`), {
    code,
    path: '/x',
  });
  expect(describeFailure(error, {}).message).toContain(words);
});

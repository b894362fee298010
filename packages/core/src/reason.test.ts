import { expect, test } from 'vitest';
import { reasonOf } from './reason.ts';

const circular: Record<string, unknown> = {};
circular['self'] = circular;
const ownCause = new Error('');
ownCause.cause = ownCause;

test.each([
  ['an error', new Error('it broke'), 'it broke'],
  ['several lines', new Error('it broke\n  at the seams\n'), 'it broke at the seams'],
  [
    'the system',
    new Error("ENOENT: no such file or directory, open '/x/it''s'"),
    'no such file or directory',
  ],
  ['the system, without a path', new Error('EMFILE: too many open files, open'), 'too many open files'],
  [
    'a program that the system does not start',
    Object.assign(new Error('spawn /bin/sh EAGAIN'), {
      errno: -11,
      code: 'EAGAIN',
      syscall: 'spawn /bin/sh',
    }),
    '/bin/sh: resource temporarily unavailable',
  ],
  ['nothing said', new TypeError(''), 'TypeError'],
  ['a code alone', Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ['a cause', new Error('', { cause: new Error('deeper') }), 'deeper'],
  ['what fetch says', new TypeError('fetch failed', { cause: new Error('refused') }), 'refused'],
  ['... without a cause', new TypeError('fetch failed'), 'fetch failed'],
  ['its own cause', ownCause, 'Error'],
  ['several at once', new AggregateError([new Error('a'), new Error('b'), new Error('a')]), 'a; b'],
  ['several with a message', new AggregateError([new Error('a')], 'all failed'), 'all failed'],
  ['none of several', new AggregateError([]), 'AggregateError'],
  ['text', 'no', 'no'],
  ['a number', 7, '7'],
  ['like an error', { message: 'no' }, 'no'],
  ['an object', { status: 7 }, '{"status":7}'],
  ['an object with nothing in it', {}, 'no reason was given'],
  ['an object that leads to itself', circular, 'no reason was given'],
  ['nothing', undefined, 'no reason was given'],
  ['null', null, 'no reason was given'],
  ['no text', ' \n', 'no reason was given'],
  ['a symbol', Symbol('x'), 'Symbol(x)'],
  ['very much', 'x'.repeat(1000), `${'x'.repeat(499)}…`],
])('%s is told in words on one line', (_, thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});

import { errorStatus, ServiceError, TransportError } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { CommandError, exitCodes } from './exit.ts';
import { reportFailure, toFailure } from './failure.ts';
import { createTerminal } from './terminal.ts';
import { capture } from '../testing/capture.ts';

test.each([
  ['a refused token', new ServiceError('invalid_token', 'The token has expired'), 3, 'invalid_token'],
  ['a missing permission', new ServiceError('forbidden', 'No.'), 3, 'forbidden'],
  ['nothing there', new ServiceError('not_found', 'No session x.'), 4, 'not_found'],
  ['a conflict', new ServiceError('session_ended', 'It has ended.'), 5, 'session_ended'],
  ['a limit', new ServiceError('rate_limited', 'Slow down.'), 6, 'rate_limited'],
  ['a full store', new ServiceError('store_unavailable', 'Full.'), 6, 'store_unavailable'],
  ['a fault of the service', new ServiceError('internal_error', 'Oh.'), 1, 'internal_error'],
  ['bad input', new ServiceError('invalid_request', 'Bad.'), 1, 'invalid_request'],
  ['nobody listening', new TransportError('unreachable', 'x cannot be reached'), 6, 'unreachable'],
  ['no answer', new TransportError('timeout', 'x did not answer in time'), 6, 'timeout'],
  [
    'a hotel page',
    new TransportError('unexpected_answer', 'x answered 200 with an HTML page'),
    6,
    'unexpected_answer',
  ],
  ['a certificate', new TransportError('insecure', 'x cannot be trusted'), 6, 'insecure'],
  [
    'another server',
    new ServiceError('not_found', 'x answered 404 with an HTML page', {
      cause: new TransportError('unexpected_answer', 'x'),
    }),
    6,
    'not_found',
  ],
  ['Ctrl-C', new TransportError('aborted', 'aborted'), 130, 'interrupted'],
  ['Ctrl-C in a pause', AbortSignal.abort().reason, 130, 'interrupted'],
  ['wrong usage', new CommandError('usage', 'No.', exitCodes.usage, undefined), 2, 'usage'],
  [
    'no login',
    Object.assign(new Error('There is no login.'), { code: 'login_required' }),
    3,
    'login_required',
  ],
  ['a full disk', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }), 1, 'ENOSPC'],
  ['a bug', new TypeError('x is not a function'), 1, 'internal_error'],
])('%s', (_, error, exitCode, code) => {
  const failure = toFailure(error);
  expect(failure).toMatchObject({ exitCode, code });
  expect(failure.message).not.toBe('');
});

describe('reportFailure', () => {
  const error = new ServiceError('not_found', 'There is no session x', { requestId: 'req_1' });

  test('says one sentence on stderr, and nothing on stdout', () => {
    const { streams, text } = capture();
    expect(reportFailure(error, createTerminal({ json: false }, streams, { NO_COLOR: '1' }), {})).toBe(4);
    expect(text()).toEqual({
      stdout: '',
      stderr:
        'error: There is no session x.\nCheck the id, and with `sallyport whoami` the gateway and the organization.\n',
    });
  });

  test('gives one document with --json', () => {
    const { streams, text } = capture();
    reportFailure(error, createTerminal({ json: true }, streams, { NO_COLOR: '1' }), {});
    expect(JSON.parse(text().stdout)).toEqual({
      error: 'not_found',
      error_description: 'There is no session x.',
      next_step: expect.stringContaining('Check the id') as string,
      request_id: 'req_1',
    });
  });

  test.each(Object.keys(errorStatus))('has a next step for %s', (code) => {
    expect(toFailure(new ServiceError(code, 'No.')).nextStep).toMatch(/\w/);
  });

  test.each([
    ['forbidden', /whoami/],
    ['insufficient_scope', /sallyport login/],
    ['upstream_required', /operator/],
    ['invalid_request', /--help/],
    ['payload_too_large', /less/],
    ['not_found', /whoami/],
    ['conflict', /try again/],
    ['session_ended', /session run/],
    ['internal_error', /log knows more under req_1/],
    ['rate_limited', /^Try again in a moment\.$/],
    ['store_unavailable', /look at its disk/],
    ['upstream_unreachable', /sallyport-gateway doctor/],
  ])('has a next step for %s', (code, nextStep) => {
    expect(toFailure(new ServiceError(code, 'No.', { requestId: 'req_1' })).nextStep).toMatch(nextStep);
  });

  test.each([
    [500, 'Try again in 1 s.'],
    [30_000, 'Try again in 30 s.'],
    [541_000, 'Try again in 10 min.'],
  ])('says when it may be tried again after 429 (%i ms)', (retryAfterMs, nextStep) => {
    for (const code of ['rate_limited', 'temporarily_unavailable'])
      expect(toFailure(new ServiceError(code, 'No.', { retryAfterMs }))).toMatchObject({ nextStep });
  });

  test.each([
    ['EACCES', 'open', '/x/y cannot be used: permission is denied.', /permissions/],
    ['EROFS', 'mkdir', '/x/y cannot be used: the file system is read-only.', /SALLYPORT_CONFIG_DIR/],
    ['ENOSPC', 'write', '/x/y cannot be used: the disk is full.', /Make room/],
  ])('says in words what the system refuses: %s', (code, syscall, message, nextStep) => {
    const error = Object.assign(new Error(`${code}: raw words, ${syscall} '/x/y'`), {
      code,
      syscall,
      path: '/x/y',
    });
    expect(toFailure(error)).toMatchObject({
      code,
      message,
      exitCode: 1,
      nextStep: expect.stringMatching(nextStep) as string,
    });
  });

  test.each([
    [
      Object.assign(new Error('spawn git ENOENT'), { code: 'ENOENT', syscall: 'spawn git', path: 'git' }),
      'git cannot be started: there is no such command.',
      1,
    ],
    [
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), {
        code: 'ECONNREFUSED',
        syscall: 'connect',
      }),
      'The network fails: connect ECONNREFUSED 127.0.0.1:1.',
      6,
    ],
    [Object.assign(new Error(''), { code: 'EMFILE' }), 'The system refuses: too many files are open.', 1],
    [
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
      'The disk is full.',
      1,
    ],
  ])('tells what the system refuses without a file: $message', (error, message, exitCode) => {
    const failure = toFailure(error);
    expect(failure).toMatchObject({ message, exitCode });
    expect(failure.nextStep).not.toMatch(/CONFIG_DIR/);
  });

  test.each([
    ['an error with a cause', new Error('', { cause: new Error('deeper') })],
    ['a cause that the message has already', new Error('a: deeper', { cause: new Error('deeper') })],
    ['several errors', new AggregateError([new Error('a'), new Error('b')])],
    ['no error among several', new AggregateError([])],
    ['the system without a message', Object.assign(new Error(''), { code: 'EIO', syscall: 'write' })],
    ['the system without a code', Object.assign(new Error(''), { syscall: 'write' })],
    ['a code alone', Object.assign(new Error(''), { code: 'login_required' })],
    ["Node.js's own code", Object.assign(new TypeError('No.'), { code: 'ERR_INVALID_ARG_TYPE' })],
    [
      'a refusal with details',
      new ServiceError('quota_exceeded', 'No.', { details: { quota: { deep: [1] } } }),
    ],
    ['a refusal that says nothing', new ServiceError('conflict', ' ')],
    ['a network that says nothing', new TransportError('unreachable', '')],
    ['a platform exception', new DOMException('Not cloneable.', 'DataCloneError')],
    ['several lines', new Error('one\n    at two (file.ts:1:1)\n')],
    ['a text', 'no'],
    ['an object', { status: 500 }],
    ['nothing', undefined],
    ['null', null],
  ])('%s is one sentence and a next step, for eyes and for scripts', (_, thrown) => {
    const shown = [false, true].map((json) => {
      const { streams, text } = capture();
      const exitCode = reportFailure(thrown, createTerminal({ json }, streams, { NO_COLOR: '1' }), {});
      expect(exitCode).toBeGreaterThan(0);
      return text();
    });
    for (const { stderr } of shown)
      expect(stderr).toMatch(/^error: (?!.*(\[object|undefined|null|: :|\.\.))\S.*\w.*[.!?)]\n\S.*\w.*\n$/);
    expect(shown[0]?.stdout).toBe('');
    expect(JSON.parse(shown[1]?.stdout ?? '')).toMatchObject({
      error: expect.stringMatching(/^\w+$/) as string,
      error_description: expect.stringMatching(/\w/) as string,
      next_step: expect.stringMatching(/\w/) as string,
    });
  });

  test('shows a stack only when asked', () => {
    const { streams, text } = capture();
    reportFailure(new TypeError('bug'), createTerminal({ json: false }, streams, { NO_COLOR: '1' }), {});
    expect(text().stderr).not.toMatch(/^\s+at /m);
    reportFailure(new TypeError('bug'), createTerminal({ json: false }, streams, { NO_COLOR: '1' }), {
      env: { SALLYPORT_DEBUG: '1' },
    });
    expect(text().stderr).toMatch(/^\s+at /m);
  });

  test.each([
    ['trusted_devices', /sallyport device revoke/],
    ['api_keys', /sallyport keys revoke/],
    ['live_sessions', /session list/],
  ])('says what to do where there are too many: %s', (quota, nextStep) => {
    const error = new ServiceError('quota_exceeded', 'No.', { details: { quota, limit: 1 } });
    expect(toFailure(error).nextStep).toMatch(nextStep);
  });

  test.each([
    ['invalid_token', 'x', 'Set SALLYPORT_TOKEN to a valid token, or unset it to use the stored login.'],
    ['invalid_token', 'sk-x', 'Set SALLYPORT_TOKEN to a valid token, or unset it to use the stored login.'],
    [
      'insufficient_scope',
      'x',
      'Set SALLYPORT_TOKEN to a token with that scope, or unset it to use the stored login.',
    ],
    [
      'insufficient_scope',
      'sk-x',
      'Unset SALLYPORT_TOKEN to use the stored login; with that, `sallyport keys create --scope SCOPE` makes a key that has it.',
    ],
  ])('%s: what helps is where the credential came from (%s)', (code, token, nextStep) => {
    const { streams, text } = capture();
    const terminal = createTerminal({ json: false }, streams, { NO_COLOR: '1' });
    reportFailure(new ServiceError(code, 'No.'), terminal, { env: { SALLYPORT_TOKEN: token } });
    expect(text().stderr).toBe(`error: No.\n${nextStep}\n`);
  });

  test.each([
    new ServiceError('invalid_token', 'No.'),
    new ServiceError('insufficient_scope', 'No.'),
    new ServiceError('invalid_grant', 'No.'),
    Object.assign(new Error('There is no login.'), { code: 'login_required' }),
    Object.assign(new Error('No keychain.'), { code: 'keychain_failed' }),
  ])('the login to make anew is the one that the flags chose: $code', (error) => {
    const step = (flags: object) => toFailure(error, { flags }).nextStep;
    expect(step({})).toContain('`sallyport login`');
    expect(step({ profile: 'old' })).toContain('`sallyport login --profile old`');
    expect(step({ profile: 'old', baseUrl: 'http://a' })).toContain(
      '`sallyport login --profile old --base-url http://a`',
    );
  });

  test('names every bad field', () => {
    const bad = new ServiceError('invalid_request', 'The body is not valid.', {
      issues: [
        { path: 'title', message: 'too long' },
        { path: 'tags/0', message: 'must be text' },
      ],
    });
    expect(toFailure(bad).message).toBe('The body is not valid (title: too long; tags/0: must be text).');
    const named = new ServiceError(
      'invalid_request',
      'Not as it must be: title: too long; tags/0: must be text.',
      { issues: bad.issues },
    );
    expect(toFailure(named).message).toBe(named.message);
    const issues = [{ path: 'bundle', message: 'is encrypted' }];
    const inWords = new ServiceError('invalid_request', 'The bundle is encrypted.', { issues });
    expect(toFailure(inWords).message).toBe(inWords.message);
  });
});

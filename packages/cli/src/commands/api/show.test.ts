import type { TransportResponse } from '@sallyport/core/client';
import { describe, expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { show } from './show.ts';

const url = 'http://127.0.0.1:1/v1/x';
const plain = { include: false, pretty: false };

function answerOf(status: number, type: string, ...chunks: readonly string[]): TransportResponse {
  return {
    status,
    headers: { 'content-type': type },
    text: () => Promise.resolve(chunks.join('')),
    async *stream() {
      for (const chunk of chunks) yield Buffer.from(chunk, 'latin1');
    },
  };
}

describe('the status decides over the exit code', () => {
  test.each([
    [200, 0],
    [302, 0],
    [400, 1],
    [401, 3],
    [403, 3],
    [404, 4],
    [409, 5],
    [429, 6],
    [500, 1],
    [503, 6],
  ])('%i: %i', async (status, exitCode) => {
    const { context, text } = testContext();
    const body = '{"error":"some_code","error_description":"Why.","extra":1}';
    expect(await show(context, url, answerOf(status, 'application/json', body), plain)).toBe(exitCode);
    expect(text().stdout).toBe(`${body}\n`);
    expect(text().stderr).toMatch(exitCode === 0 ? /^$/ : /^error: Why\.\n/);
  });
});

test('a page of something else is printed and named', async () => {
  const { context, text } = testContext();
  expect(await show(context, url, answerOf(502, 'text/html', '<html>'), plain)).toBe(6);
  expect(text()).toMatchObject({
    stdout: '<html>\n',
    stderr: expect.stringContaining('HTML page') as string,
  });
});

test('status and headers come along where asked for', async () => {
  const answer = answerOf(200, 'text/plain', 'plain');
  const [human, machine] = [testContext(), testContext({ json: true })];
  await show(human.context, url, answer, { ...plain, include: true });
  expect(human.text().stdout).toBe('HTTP 200\ncontent-type: text/plain\n\nplain\n');
  await show(machine.context, url, answer, { ...plain, include: true });
  expect(machine.text().stdout).toBe(
    '{"status":200,"headers":{"content-type":"text/plain"},"body":"plain"}\n',
  );
});

test('JSON is indented on a terminal', async () => {
  const { context, text } = testContext();
  await show(context, url, answerOf(200, 'application/json', '{"a":1}'), { ...plain, pretty: true });
  expect(text().stdout).toBe('{\n  "a": 1\n}\n');
});

describe('a stream', () => {
  const type = 'text/event-stream; charset=utf-8';

  test('is printed while it comes, characters whole', async () => {
    const { context, text } = testContext();
    let afterFirst = '';
    const answer: TransportResponse = {
      ...answerOf(200, type),
      async *stream() {
        yield Buffer.from('data: \xc3', 'latin1');
        yield Buffer.from('\xbc\n\n', 'latin1');
        afterFirst = text().stdout;
        yield Buffer.from('data: 2\n\n');
      },
    };
    expect(await show(context, url, answer, plain)).toBe(0);
    expect(afterFirst).toBe('data: ü\n\n');
    expect(text().stdout).toBe('data: ü\n\ndata: 2\n\n');
  });

  test('is an event a line with --json', async () => {
    const { context, text } = testContext({ json: true });
    await show(
      context,
      url,
      answerOf(200, type, 'id: 1\nevent: x\ndata: {"a":1}\n\n', 'data: text\n\n'),
      plain,
    );
    expect(text().stdout).toBe(
      '{"event":"x","id":"1","data":{"a":1}}\n{"event":"message","id":"1","data":"text"}\n',
    );
  });
});

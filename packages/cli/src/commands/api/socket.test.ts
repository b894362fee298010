import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { upgrade, type ClientSocket } from '@sallyport/core/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { runCli } from '../../testing/cli.ts';
import { testContext } from '../../testing/context.ts';
import { toFailure } from '../../io/failure.ts';
import { converse } from './socket.ts';

const http = createServer();
let cwd: string;
let baseUrl: string;
let sockets: WebSocketServer;
let asked: IncomingMessage[];
let refusal: string | undefined;
let closed: PromiseWithResolvers<number>;
let meet: (socket: WebSocket) => void;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-socket-'));
  asked = [];
  refusal = undefined;
  closed = Promise.withResolvers();
  meet = (socket) => socket.on('message', (data, binary) => socket.send(data, { binary }));
  sockets = new WebSocketServer({ noServer: true });
  http.removeAllListeners('upgrade').on('upgrade', (request, socket, head) => {
    asked.push(request);
    if (refusal !== undefined) return socket.on('error', () => undefined).end(refusal);
    return sockets.handleUpgrade(request, socket, head, (open) => {
      open.on('error', () => undefined).on('close', closed.resolve);
      meet(open);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterEach(() => {
  for (const socket of sockets.clients) socket.terminate();
  http.close();
  rmSync(cwd, { recursive: true, force: true });
});

const api = (args: readonly string[], input = '') =>
  runCli(['api', ...args], {
    ...{ cwd, input },
    env: { SALLYPORT_BASE_URL: baseUrl, SALLYPORT_TOKEN: 'secret' },
  });

describe('a WebSocket', () => {
  test('takes the lines of stdin as messages, prints those that come, and is closed when stdin ends', async () => {
    const ran = await api(
      ['/api/ws/voice/one', '--query', 'lang=en', '--subprotocol', 'v1', '--header', 'x-own: 1'],
      'one\ntwo\r\nthree',
    );
    expect(ran).toEqual({ exitCode: 0, stdout: 'one\ntwo\nthree\n', stderr: '' });
    expect(asked[0]?.url).toBe('/api/ws/voice/one?lang=en');
    expect(asked[0]?.headers).toMatchObject({
      ...{ authorization: 'Bearer secret', 'sec-websocket-protocol': 'v1', 'x-own': '1' },
    });
    expect(await closed.promise).toBe(1000);
  });

  test('is one at any path by WS, and one of the contract by its id', async () => {
    await api(['ws', '/v1/of/another/release']);
    await api(['bridge.ws', '--param', 'env_id=e']);
    expect(asked.map(({ url }) => url)).toEqual(['/v1/of/another/release', '/v1/environments/e/bridge/ws']);
  });

  test('takes bytes as they come with --binary, and prints them as they are', async () => {
    const ran = await api(['WS', '/api/ws/voice/one', '--binary'], 'one\ntwo');
    expect(ran).toEqual({ exitCode: 0, stdout: 'one\ntwo', stderr: '' });
  });

  test('is a line of JSON for each message with --json', async () => {
    meet = (socket) => {
      socket.send('{"a":1}');
      socket.send('plain');
      socket.send(Buffer.from([0, 255]));
      socket.close(1000);
    };
    const ran = await api(['WS', '/api/ws/voice/one', '--json', '--no-close']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).toBe(
      '{"type":"text","data":{"a":1}}\n{"type":"text","data":"plain"}\n{"type":"binary","data":"AP8="}\n',
    );
  });

  test('stays open with --no-close until the other side ends it', async () => {
    meet = (socket) =>
      socket.on('message', () => void setImmediate(() => (socket.send('late'), socket.close(1000))));
    const ran = await api(['WS', '/api/ws/voice/one', '--no-close', '--include'], 'one\n');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^HTTP 101\n[^]*\n\nlate\n$/);
  });

  test('that is refused is shown as any other refusal', async () => {
    const body = '{"error":"forbidden","error_description":"No voice for you."}';
    refusal = `HTTP/1.1 403 No\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect(await api(['WS', '/api/ws/voice/one'])).toEqual({
      exitCode: 3,
      stdout: `${body}\n`,
      stderr: expect.stringContaining('No voice for you.') as string,
    });
  });

  test.each([
    [4003, 1, /closed the WebSocket with 4003: enough/],
    [1012, 6, /run it again/],
  ])('closed by the other side with %i ends with %i', async (code, exitCode, says) => {
    meet = (socket) => socket.close(code, 'enough');
    const ran = await api(['WS', '/api/ws/voice/one', '--no-close']);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toMatch(says);
  });

  test('has no body, and what is none has no messages', async () => {
    expect(await api(['WS', '/x', '--body', '{}'])).toMatchObject({ exitCode: 2 });
    expect(await api(['/v1/models', '--binary'])).toMatchObject({ exitCode: 2 });
    expect(asked).toEqual([]);
  });
});

describe('Ctrl-C', () => {
  async function conversing() {
    const test = testContext();
    const { asked: asking } = test.context.interrupt;
    const request = { url: `${baseUrl}/api/ws/voice/one`, headers: {}, timeoutMs: 10_000, signal: asking };
    const socket = (await upgrade({}, request)) as ClientSocket;
    const stdin = new PassThrough();
    return { ...test, stdin, ended: converse(test.context, socket, { binary: false, closes: true }, stdin) };
  }

  test('closes with 1000, without a word', async () => {
    const { interrupt, ended, text, stdin } = await conversing();
    interrupt();
    expect(await ended).toBe(130);
    expect(await closed.promise).toBe(1000);
    expect(text()).toEqual({ stdout: '', stderr: '' });
    expect(stdin.destroyed).toBe(true);
  });

  test('waits a little for the answer, or until it comes again', async () => {
    meet = (socket) => socket.pause();
    const patient = await conversing();
    patient.interrupt();
    while (patient.clock.timers === 0) await new Promise(setImmediate);
    await patient.clock.advance(2_000);
    expect(await patient.ended).toBe(130);
    const hasty = await conversing();
    hasty.interrupt();
    hasty.interrupt();
    expect(await hasty.ended).toBe(130);
  });
});

test('a stdin that cannot be read is a failure, and bytes are not for eyes', async () => {
  const { context, text } = testContext();
  const request = { url: `${baseUrl}/api/ws/voice/one`, headers: {}, timeoutMs: 10_000 };
  const socket = (await upgrade({}, request)) as ClientSocket;
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const watched = { ...context, terminal: { ...context.terminal, isForEyes: true } };
  const ended = converse(watched, socket, { binary: true, closes: true }, stdin);
  stdin.write(Buffer.from([0, 255]));
  while (!text().stderr.includes('bytes')) await new Promise(setImmediate);
  expect(text()).toEqual({ stdout: '', stderr: expect.stringMatching(/Ctrl-D.*\n\(2 bytes;/) as string });
  stdin.destroy(new Error('No more.'));
  const error: unknown = await ended.catch((caught: unknown) => caught);
  expect(toFailure(error)).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('No more.') as string,
  });
});

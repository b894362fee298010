import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { LiveSocket } from './live-socket.ts';

/** A peer that takes the handshake, then says byte for byte what it is told to. */
async function peer() {
  const server = createServer((_, response) => response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upgraded = once(server, 'upgrade') as Promise<[IncomingMessage, Duplex]>;
  const { port } = server.address() as AddressInfo;
  const transport = undiciTransport();
  const clock = new ManualClock();
  const texts: string[] = [];
  const opened = Promise.withResolvers<undefined>();
  const baseUrl = `http://127.0.0.1:${port}`;
  const live = new LiveSocket({
    clientOptions: { baseUrl, transport },
    clock,
    url: baseUrl.replace('http', 'ws'),
    headers: {},
    onOpen: () => opened.resolve(undefined),
    onText: (text) => texts.push(text),
  });
  const [{ headers }, connection] = await upgraded;
  onTestFinished(async () => {
    connection.destroy();
    await transport.close();
    server.close();
  });
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`; // RFC 6455, 1.3
  const accept = createHash('sha1').update(key).digest('base64');
  connection.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  await opened.promise;
  const say = async (bytes: Uint8Array) => {
    connection.write(bytes);
    // What was written before is there once another connection has had its answer.
    await (await fetch(baseUrl)).text();
  };
  return { live, clock, texts, say };
}

test('a large frame that comes in slowly is no silence, and what stops amid it is', async () => {
  const { live, clock, texts, say } = await peer();
  const text = Buffer.from('x'.repeat(1000));
  const frame = Buffer.concat([Buffer.from([0x81, 126, 1000 >> 8, 1000 & 0xff]), text]);
  for (let at = 0; at < frame.length; at += 100) {
    await say(frame.subarray(at, at + 100));
    await clock.advance(50_000);
  }
  expect(texts).toEqual([text.toString()]);
  await say(frame.subarray(0, 100));
  await clock.advance(60_000);
  expect(live.isOpen).toBe(true);
  await clock.advance(60_000);
  expect(await live.ended).toEqual({ code: 1006, reason: 'dropped' });
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serveTelemetry } from './serve-telemetry.ts';

const json = { 'content-type': 'application/json' };
const bodyOf = (bytes: number) => JSON.stringify({ resourceLogs: [], padding: 'x'.repeat(bytes) });
const limit = 1024 * 1024;

test('bodies in flight are bounded together: past it 503 with Retry-After, and nothing is held for long', async () => {
  const { post, port } = await serveTelemetry({ maxBodyBytesInFlight: limit });
  const slow = await startUpload(port, bodyOf(700_000));
  // What waits to be sent cannot be seen from here: until then the second one is let through.
  const refused = await vi.waitUntil(async () => {
    const answer = await post(bodyOf(700_000), json);
    return answer.status === 503 ? answer : undefined;
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({ error: 'overloaded', code: 14 });
  expect((await post(bodyOf(1000), json)).status).toBe(200);

  expect(await slow.finish()).toContain('HTTP/1.1 200');
  expect((await post(bodyOf(700_000), json)).status).toBe(200);

  // Whoever hangs up gives back what it held.
  const gone = await startUpload(port, bodyOf(700_000));
  await vi.waitUntil(async () => (await post(bodyOf(700_000), json)).status === 503);
  gone.abort();
  await vi.waitUntil(async () => (await post(bodyOf(700_000), json)).status === 200);
});

/** All of a request but its last byte. */
async function startUpload(port: number, body: string) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  const answered = once(socket.setEncoding('utf8'), 'data');
  const head = `POST /v1/logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  await new Promise((resolve) => socket.write(head + body.slice(0, -1), resolve));
  return {
    async finish() {
      socket.write(body.slice(-1));
      const [answer] = (await answered) as [string];
      return answer;
    },
    abort: () => socket.destroy(),
  };
}

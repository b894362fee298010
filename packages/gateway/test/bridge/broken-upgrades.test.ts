import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Execution, Exit } from '@sallyport/bridge';
import { streamSession } from '@sallyport/core/client';
import { expect, onTestFinished, test } from 'vitest';
import { runBridge } from './run-bridge.ts';
import { createSession, serveBridge } from './serve-bridge.ts';

/** A proxy that forwards requests and knows nothing of upgrades: to the gateway they are plain GETs. */
async function proxyWithoutUpgrades() {
  let target = '';
  const server = createServer((incoming, outgoing) => {
    const { upgrade: _, connection: __, ...headers } = incoming.headers;
    const forwarded = request(
      target + (incoming.url ?? ''),
      { method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        outgoing.on('close', () => answer.destroy());
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, forwardTo: (address: string) => (target = address) };
}

test('behind a proxy that breaks WebSockets a session runs whole, on an executor of the embedder', async () => {
  const proxy = await proxyWithoutUpgrades();
  const bridge = await serveBridge({ apiBaseUrl: proxy.url });
  proxy.forwardTo(bridge.url);
  const { events, until, result } = runBridge({
    ...bridge.clientOptions,
    baseUrl: proxy.url,
    // Answers each message, and ends with the first that says so.
    run({ emit }): Execution {
      const { promise: ended, resolve } = Promise.withResolvers<Exit>();
      return {
        pid: undefined,
        ended,
        deliver({ type, data }) {
          if (type === 'session.message')
            emit('session.output', { stream: 'stdout', text: `got ${String(data['text'])}` });
          if (data['text'] === 'end') resolve({ exitCode: 0, signal: null });
          return undefined;
        },
        endInput: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
        signal: (signal) => resolve({ exitCode: null, signal }),
      };
    },
    interactive: true,
    once: true,
  });
  const { environmentId } = await until('registered');
  const message = (text: string) => ({ type: 'session.message', data: { text } });
  const { id } = await createSession(bridge, environmentId, [message('one')]);
  const said: unknown[] = [];
  for await (const frame of streamSession(bridge.clientOptions, id)) {
    if (frame.kind !== 'event') continue;
    const { type, data } = frame.event;
    if (type === 'session.output') said.push(data['text']);
    if (data['text'] === 'got one')
      await bridge.client.sessions.append({
        params: { id },
        body: { events: [message('two'), message('end')] },
      });
    if (data['status'] === 'done') break;
  }
  expect(said).toEqual(['got one', 'got two', 'got end']);
  expect(await result).toEqual({ reason: 'once', killed: false });
  expect(events.filter(({ type }) => type === 'session.disconnected')).toHaveLength(2);
  expect(events.filter(({ type }) => type === 'session.connected')).toHaveLength(1);
});

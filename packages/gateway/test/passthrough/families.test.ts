import { createClient, undiciTransport, type FamilyClient } from '@sallyport/core/client';
import { families } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedApp } from '../serve.ts';
import { through } from './through.ts';
import { startVendor, type VendorUpstream } from './vendor.ts';

// Our own client, in front of a gateway in front of a vendor.

let upstream: VendorUpstream;
let served: ServedApp;
let client: ReturnType<typeof createClient>;
const transport = undiciTransport({ proxyFromEnvironment: false });
beforeAll(async () => {
  upstream = await startVendor();
  served = await through(upstream.url);
  client = createClient({
    baseUrl: served.url,
    transport,
    tokens: { token: () => Promise.resolve('access') },
  });
});
afterAll(async () => {
  await transport.close();
  await served.close();
  await upstream[Symbol.asyncDispose]();
});

test.each(families.filter((family) => !('transport' in family)))(
  '$name has methods that reach it',
  async ({ name, prefix }) => {
    const family: FamilyClient = client[name as keyof typeof client] as never;
    const calls: [string, () => Promise<unknown>][] = [
      [`GET ${prefix}?limit=1`, () => family.list({ query: { limit: 1 } })],
      [`POST ${prefix}`, () => family.create({ a: 1 })],
      [`GET ${prefix}/one`, () => family.retrieve('one')],
      [`POST ${prefix}/one`, () => family.update('one', { a: 2 })],
      [`DELETE ${prefix}/one`, () => family.delete('one')],
      [`GET ${prefix}/one/parts`, () => family.at('one', 'parts').list()],
    ];
    for (const [expected, call] of calls) {
      // What it is to the vendor is the vendor's matter.
      await call().catch((error: unknown) => expect(error).toMatchObject({ status: 404 }));
      const asked = await upstream.asked(1);
      expect(`${asked?.method} ${asked?.url}`).toBe(expected);
      expect(asked?.headers).toMatchObject({ authorization: 'Bearer access', via: '1.1 sallyport' });
    }
  },
);

test('a streamed message is its events, as they come', async () => {
  const question = { model: 'model-1', messages: [{ role: 'user', content: 'Say hello' }] };
  const seen: string[] = [];
  let text = '';
  for await (const { event, data } of client.messages.create({ ...question, stream: true })) {
    seen.push(event);
    text += (JSON.parse(data) as { delta?: { text?: string } }).delta?.text ?? '';
  }
  expect(seen).toEqual([
    ...['message_start', 'content_block_start', 'ping', 'content_block_delta', 'content_block_delta'],
    ...['content_block_stop', 'message_delta', 'message_stop'],
  ]);
  expect(text).toBe('Hello');
  expect(JSON.parse((await upstream.asked(1))?.body ?? '')).toEqual({ ...question, stream: true });
});

test('files go up and come down', async () => {
  const form = new FormData();
  form.set('file', new File(['some text'], 'notes.txt', { type: 'text/plain' }));
  expect(await client.files.create(form)).toMatchObject({ id: 'file_1' });
  expect((await upstream.asked(1))?.body).toMatch(/filename="notes.txt"[^]*some text/);
  const bytes: Uint8Array[] = [];
  for await (const chunk of client.files.at('file_1', 'content').download()) bytes.push(chunk);
  expect(Buffer.concat(bytes).toString()).toBe('some text');
});

test('voice is a WebSocket, which is closed through both, or refused in the words of the vendor', async () => {
  const socket = await client.voice.at('one').connect({ query: { lang: 'en' }, protocols: ['v1'] });
  const asked = await upstream.asked(1);
  expect(`${asked?.method} ${asked?.url}`).toBe('GET /api/ws/voice/one?lang=en');
  expect(asked?.headers).toMatchObject({ authorization: 'Bearer access', via: '1.1 sallyport' });
  expect(socket.protocol).toBe('v1');
  await socket.send({ type: 'start' });
  await socket.send(Buffer.from([0, 255]));
  const seen: unknown[] = [];
  for await (const message of socket) if (seen.push(message) === 2) void socket.close();
  expect(seen).toEqual(['{"type":"start"}', Buffer.from([0, 255])]);
  expect(await socket.ended).toMatchObject({ code: 1000 });
  await expect(client.voice.at('denied').connect()).rejects.toMatchObject({ status: 403 });
  await upstream.asked(1);
});

import { expect, test } from 'vitest';
import { ServiceError } from '../errors.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { createClient } from './client.ts';

/** A client whose requests are all answered alike, and kept. */
function clientOf({ status = 200, text = '{}' } = {}) {
  const asked: TransportRequest[] = [];
  const client = createClient({
    baseUrl: 'http://gateway.example/prefix',
    tokens: { token: () => Promise.resolve('t0') },
    dialect: { vendor: 'acme', agent: 'robot' },
    transport: {
      async send(request) {
        asked.push(request);
        const stream = async function* () {
          yield Buffer.from(text);
        };
        return { status, headers: {}, text: () => Promise.resolve(text), stream };
      },
      close: () => Promise.resolve(),
    },
  });
  return { client, asked };
}

test('segments are escaped and no words of the contract; headers are', async () => {
  const { client, asked } = clientOf();
  await client.skills
    .at('agent_1/../x', 'versions')
    .update('vendor-a', {}, { headers: { 'vendor-beta': 'b' } });
  expect(asked[0]).toMatchObject({
    method: 'POST',
    url: 'http://gateway.example/prefix/v1/skills/agent_1%2F..%2Fx/versions/vendor-a',
    headers: { 'acme-beta': 'b', authorization: 'Bearer t0', accept: 'application/json' },
  });
});

test.each(['', '.', '..'])(
  'a call is never made for another path than its own, by a part that is %j',
  async (part) => {
    const { client, asked } = clientOf();
    const refusal = {
      code: 'invalid_request',
      issues: [{ path: expect.stringMatching(/^params\//) as string }],
    };
    await expect(client.sessions.delete({ params: { id: part } })).rejects.toMatchObject(refusal);
    await expect(client.files.at(part).retrieve('id')).rejects.toMatchObject(refusal);
    await expect(client.voice.at(part).connect()).rejects.toMatchObject(refusal);
    await expect(client.sessions.get({ params: {} as { readonly id: string } })).rejects.toMatchObject(
      refusal,
    );
    expect(asked).toEqual([]);
  },
);

test('a refusal is thrown, of a stream when it is read; a model is asked once', async () => {
  const { client, asked } = clientOf({ status: 503, text: '{"type":"error","error":{"type":"overloaded"}}' });
  await expect(client.messages.create({})).rejects.toThrow(ServiceError);
  const events = client.messages.create({ stream: true });
  expect(asked).toHaveLength(1);
  await expect(async () => {
    for await (const event of events) expect.fail(event.event);
  }).rejects.toMatchObject({ status: 503 });
  expect(asked).toHaveLength(2);
});

test('who reads a stream may wait as long as it takes', async () => {
  const { client, asked } = clientOf({ text: 'data: 1\n\n' });
  const seen: string[] = [];
  for await (const { data } of client.messages.create({ stream: true, model: 'm' })) seen.push(data);
  expect(seen).toEqual(['1']);
  expect(asked[0]).toMatchObject({ idleMs: 0, timeoutMs: 600_000, body: '{"stream":true,"model":"m"}' });
});

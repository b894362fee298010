import Vendor, { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedApp } from '../serve.ts';
import { through } from './through.ts';
import { startVendor, type VendorUpstream } from './vendor.ts';

// The SDK of a model vendor as it comes, in front of a gateway that speaks the vendor's words and has the vendor's key.

let served: ServedApp;
let upstream: VendorUpstream;

beforeAll(async () => {
  upstream = await startVendor();
  const dialect = { vendor: 'anthropic', agent: 'claude' };
  const flags = {
    ...{ 'areas.oauth': 'local', 'areas.devices': 'local' },
    ...{ 'upstream.credential': 'sk-team', 'upstream.credentialHeader': 'x-api-key' },
    ...{ 'dialect.vendor': dialect.vendor, 'dialect.agent': dialect.agent },
  };
  served = await through(upstream.url, flags, { dialect });
});
afterAll(async () => {
  await served.close();
  await upstream[Symbol.asyncDispose]();
});

const asked = (count: number) => upstream.asked(count);
const vendor = (apiKey = 'access') => new Vendor({ apiKey, baseURL: served.url, maxRetries: 0 });
const question = {
  ...{ model: 'model-1', max_tokens: 16 },
  messages: [{ role: 'user' as const, content: 'Say hello' }],
};

test("models are listed, and the key is the team's, which nobody of it sees", async () => {
  const page = await vendor().models.list();
  expect(page.data.map(({ id }) => id)).toEqual(['model-1']);
  const { headers } = (await asked(1)) ?? {};
  expect(headers).toMatchObject({
    'x-api-key': 'sk-team',
    'anthropic-version': expect.any(String) as string,
  });
  expect(JSON.stringify(headers)).not.toContain('access');
});

test('messages are answered, whole and as a stream', async () => {
  const { data, request_id: id } = await vendor().messages.create(question).withResponse();
  expect([data.content, id]).toEqual([[{ type: 'text', text: 'Hello' }], 'req_vendor']);
  expect(JSON.parse((await asked(1))?.body ?? '')).toEqual(question);

  const stream = vendor().messages.stream(question);
  const words: string[] = [];
  stream.on('text', (text) => words.push(text));
  expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: 'Hello' }]);
  expect(words).toEqual(['Hel', 'lo']);
  await asked(1);
  expect(await vendor().messages.countTokens(question)).toEqual({ input_tokens: 7 });
  await asked(1);
});

test("a refusal of the vendor is the vendor's, and one of the gateway is an error that its callers know", async () => {
  const overload = { ...question, metadata: { user_id: 'overload' } };
  await expect(vendor().messages.create(overload)).rejects.toMatchObject({
    status: 529,
    error: { error: { type: 'overloaded_error' } },
  });
  await asked(1);
  await expect(vendor('nobody').models.list()).rejects.toThrow(Vendor.AuthenticationError);
  expect(upstream.seen).toEqual([]);
});

test('files go up and come down', async () => {
  const { files } = vendor();
  const file = await toFile(Buffer.from('some text'), 'notes.txt', { type: 'text/plain' });
  expect((await files.upload({ file })).id).toBe('file_1');
  const upload = await asked(1);
  expect(upload?.headers).toMatchObject({
    'content-type': expect.stringMatching(/^multipart\/form-data/) as string,
  });
  expect(upload?.body).toMatch(/filename="notes.txt"[^]*some text/);
  expect(await (await files.download('file_1')).text()).toBe('some text');
  expect((await files.delete('file_1')).id).toBe('file_1');
});

test('betas go along under the name that the vendor has for them', async () => {
  upstream.seen.length = 0;
  const page = await vendor().beta.agents.list();
  expect(page.data).toEqual([]);
  expect((await asked(1))?.headers).toMatchObject({
    'anthropic-beta': expect.stringMatching(/managed-agents/) as string,
  });
});

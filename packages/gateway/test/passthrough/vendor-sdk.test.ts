import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Vendor, { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedApp } from '../serve.ts';
import { until } from './raw-upstream.ts';
import { through } from './through.ts';

// The SDK of a model vendor as it comes, in front of a gateway that speaks the vendor's words and has the vendor's key.

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let served: ServedApp;
let stop: () => Promise<unknown>;
const seen: Seen[] = [];

beforeAll(async () => {
  const program = join(import.meta.dirname, 'vendor-upstream.ts');
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const [url] = (await once(lines, 'line')) as [string];
  lines.on('line', (line) => seen.push(JSON.parse(line) as Seen));
  const dialect = { vendor: 'anthropic', agent: 'claude' };
  const flags = {
    ...{ 'areas.oauth': 'local', 'areas.devices': 'local' },
    ...{ 'upstream.credential': 'sk-team', 'upstream.credentialHeader': 'x-api-key' },
    ...{ 'dialect.vendor': dialect.vendor, 'dialect.agent': dialect.agent },
  };
  served = await through(url, flags, { dialect });
  stop = async () => {
    await served.close();
    child.kill();
    await once(child, 'exit');
  };
});
afterAll(() => stop());

const vendor = (apiKey = 'access') => new Vendor({ apiKey, baseURL: served.url, maxRetries: 0 });
const question = {
  ...{ model: 'model-1', max_tokens: 16 },
  messages: [{ role: 'user' as const, content: 'Say hello' }],
};

/** What the upstream was asked last. */
async function asked(count: number): Promise<Seen | undefined> {
  await until(() => seen.length >= count);
  return seen.splice(0).at(-1);
}

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
  expect(seen).toEqual([]);
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
  seen.length = 0;
  const page = await vendor().beta.agents.list();
  expect(page.data).toEqual([]);
  expect((await asked(1))?.headers).toMatchObject({
    'anthropic-beta': expect.stringMatching(/managed-agents/) as string,
  });
});

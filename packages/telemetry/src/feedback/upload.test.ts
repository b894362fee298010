import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fetchTransport, undiciTransport, type Transport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { scratch } from '../../test/batcher.ts';
import { zipOf } from '../testing/zip.ts';
import { uploadFeedback, type FeedbackUpload } from './upload.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly names: readonly string[];
  readonly description: string;
  readonly fileName: string;
  readonly bundle: Buffer;
}

/** Both parts of a form as they are on the wire (RFC 7578). */
function partsOf(body: Buffer): Omit<Received, 'headers'> {
  const [boundary = ''] = /^--\S+/.exec(body.toString('latin1')) ?? [];
  const [, first = '', second = '', end] = body.toString('latin1').split(boundary);
  expect(end).toBe('--\r\n');
  const parts = [first, second].map((part) => {
    const [head = '', ...content] = part.slice(2, -2).split('\r\n\r\n');
    return {
      head: Buffer.from(head, 'latin1').toString(),
      content: Buffer.from(content.join('\r\n\r\n'), 'latin1'),
    };
  });
  const [description, bundle] = parts as [(typeof parts)[0], (typeof parts)[0]];
  return {
    names: parts.map(({ head }) => / name="(\w+)"/.exec(head)?.[1] ?? ''),
    description: description.content.toString(),
    fileName: / filename="([^"]+)"/.exec(bundle.head)?.[1] ?? '',
    bundle: bundle.content,
  };
}

type Answer =
  { readonly status: number; readonly headers?: Record<string, string>; readonly body: object } | 'hang';

async function startService(...answers: Answer[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then(
      (body) => {
        const index = received.push({ headers: request.headers, ...partsOf(body) });
        const answer = answers[Math.min(index, answers.length) - 1]!;
        if (answer === 'hang') return;
        response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
        response.end(JSON.stringify(answer.body));
      },
      () => undefined, // the upload was given up amid it
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const done: Answer = { status: 200, body: { feedback_id: 'fb_1' } };
const content = zipOf({ name: 'a.txt', content: 'x'.repeat(300_000) });

function prepare(baseUrl: string, transport: Transport = undiciTransport(), name = 'Gesprächs–"log".zip') {
  onTestFinished(() => transport.close());
  const clock = new ManualClock();
  const bundlePath = join(scratch().directory, name);
  writeFileSync(bundlePath, content);
  const options = { baseUrl, transport, clock, tokens: { token: () => Promise.resolve('token') } };
  const upload = (more: Partial<FeedbackUpload> = {}) =>
    uploadFeedback(options, { description: 'It broke: “ü” 😀', bundlePath, ...more });
  return { upload, clock, bundlePath };
}

test.each([
  ['undici', undiciTransport],
  ['fetch', fetchTransport],
])('description and bundle arrive as they are, streamed by %s, with progress', async (_, transport) => {
  const service = await startService(done);
  const { upload } = prepare(service.baseUrl, transport());
  const progress: { sent: number; total: number }[] = [];
  expect(await upload({ onProgress: (each) => progress.push(each) })).toEqual({ feedbackId: 'fb_1' });
  const [{ names, description, bundle, fileName, headers }] = service.received as [Received];
  expect(names).toEqual(['description', 'bundle']);
  expect(description).toBe('It broke: “ü” 😀');
  expect(fileName).toBe('Gesprächs–%22log%22.zip');
  expect(bundle.equals(content)).toBe(true);
  expect(headers.authorization).toBe('Bearer token');
  expect(progress.length).toBeGreaterThan(4);
  expect(progress.map(({ sent }) => sent)).toEqual(
    progress.map(({ sent }) => sent).toSorted((a, b) => a - b),
  );
  const last = progress.at(-1)!;
  expect(last.sent).toBe(last.total);
  if (transport === undiciTransport) expect(headers['content-length']).toBe(String(last.total));
});

test('a service that is busy is asked again when it says so, with the whole bundle', async () => {
  const busy: Answer = {
    status: 429,
    headers: { 'retry-after': '10' },
    body: { error: 'rate_limited', error_description: 'x' },
  };
  const service = await startService(busy, done);
  const { upload, clock } = prepare(service.baseUrl);
  const uploaded = upload();
  await expect.poll(() => clock.timers).toBe(2);
  await clock.advance(10_000);
  expect(await uploaded).toEqual({ feedbackId: 'fb_1' });
  expect(service.received.map(({ bundle }) => bundle.length)).toEqual([content.length, content.length]);
  expect(clock.timers).toBe(0);
});

test.each([
  [403, 'zdr_org', {}],
  [413, 'payload_too_large', {}],
  [500, 'internal_error', {}],
  [503, 'store_unavailable', { 'retry-after': '90' }],
])('%i %s is told at once', async (status, code, headers) => {
  const service = await startService({ status, headers, body: { error: code, error_description: 'no' } });
  await expect(prepare(service.baseUrl).upload()).rejects.toMatchObject({ status, code });
  expect(service.received).toHaveLength(1);
});

test('after a minute it is given up; who leaves before is not told of a time-out', async () => {
  const service = await startService('hang');
  const { upload, clock } = prepare(service.baseUrl);
  const late = upload();
  await expect.poll(() => service.received.length).toBe(1);
  const leaving = new AbortController();
  const left = upload({ signal: leaving.signal });
  await expect.poll(() => service.received.length).toBe(2);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ code: 'aborted' });
  await Promise.all([expect(late).rejects.toMatchObject({ code: 'timeout' }), clock.advance(60_000)]);
});

test('what the service would refuse is refused before a byte is sent', async () => {
  const { upload, bundlePath } = prepare('http://127.0.0.1:9');
  await expect(upload({ description: ' ' })).rejects.toMatchObject({
    code: 'invalid_request',
    issues: [{ path: 'description' }],
  });
  await expect(upload({ description: '😀'.repeat(20_001) })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  truncateSync(bundlePath, 50 * 1024 ** 2 + 1);
  await expect(upload()).rejects.toMatchObject({
    code: 'payload_too_large',
    message: 'The bundle has 52,428,801 bytes; the service takes 52,428,800.',
  });
  writeFileSync(bundlePath, 'text');
  await expect(upload()).rejects.toMatchObject({ code: 'invalid_request', issues: [{ path: 'bundle' }] });
});

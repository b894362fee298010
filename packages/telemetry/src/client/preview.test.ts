import { expect, test } from 'vitest';
import { makeBatcher } from '../../test/batcher.ts';
import { startSink } from '../../test/sink.ts';
import { previewEvents } from './preview.ts';

/** What HTTP adds. */
const ofHttp = ['host', 'connection', 'content-length'];

test.each([
  ['small', 'x', undefined],
  ['large', 'x'.repeat(2000), undefined],
  ['large, to elsewhere', 'x'.repeat(2000), 'gzip'],
])('what is shown is what is sent, but for the token: %s', async (_name, body, coding) => {
  const sink = await startSink();
  const options = { baseUrl: sink.baseUrl, headers: { 'user-agent': 'a/1' }, ...(coding && { gzip: true }) };
  const { batcher, clock } = makeBatcher(options);
  const event = { name: 'one', body, attributes: { token: 'abc', count: 1 } };
  const of = { serviceName: 'agent_desktop', serviceVersion: '1.2.3', clock };
  const preview = await previewEvents({ ...options, ...of }, [event]);
  batcher.emit(event);
  await batcher.shutdown();

  const [sent] = sink.requests;
  const isOurs = ([name]: readonly [string, unknown]) => !ofHttp.includes(name);
  const headers = Object.fromEntries(Object.entries(sent?.headers ?? {}).filter(isOurs));
  expect(headers['content-encoding']).toBe(coding);
  // Each event and each request has ids of its own.
  const own = { 'idempotency-key': expect.any(String) as string, 'request-id': expect.any(String) as string };
  expect(headers).toEqual({ ...preview?.headers, ...own, authorization: 'Bearer token' });
  expect(preview?.headers).toMatchObject({ ...own, authorization: 'Bearer [your login]' });
  const withoutIds = (text: string) => text.replaceAll(/[\w-]{36}/g, 'id');
  expect(preview?.events.map(withoutIds)).toEqual(sent?.events.map((one) => withoutIds(JSON.stringify(one))));
});

test('without events nothing would be sent', async () => {
  const options = { baseUrl: 'http://127.0.0.1:1', serviceName: 'agent_desktop', serviceVersion: '1.2.3' };
  expect(await previewEvents(options, [])).toBeUndefined();
});

import { Writable } from 'node:stream';
import { freePort, ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { createLog } from '../../src/http/log.ts';
import { answer, rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

function collected() {
  const lines: Record<string, unknown>[] = [];
  const to = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
  const saying = (text: string) => () => lines.filter(({ msg }) => msg === text);
  return { log: createLog('info', to), ofRequests: saying('request'), ofFailures: saying('request failed') };
}

test('what passes through has one line, with its row, whole or cut', async () => {
  const { log, ofRequests } = collected();
  await using upstream = await rawUpstream((socket, head) => {
    if (head.includes('?cut')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
    else socket.write(answer('x'.repeat(head.includes('?long') ? 20_000 : 2)));
  });
  await using served = await through(upstream.url, {}, { log, trustProxy: true });
  const headers = { 'x-forwarded-for': '6.6.6.6, 1.2.3.4', 'request-id': 'mine' };
  for (const query of ['short', 'long', 'cut'])
    await fetch(`${served.url}/v1/sessions?${query}`, { headers })
      .then((response) => response.text())
      .catch(() => '');
  await expect.poll(() => ofRequests().length).toBe(3);
  expect(ofRequests().map(({ url, status, cut }) => [url, status, cut])).toEqual([
    ['/v1/sessions?short', 200, undefined],
    ['/v1/sessions?long', 200, undefined],
    ['/v1/sessions?cut', 200, true],
  ]);
  for (const line of ofRequests())
    expect(line).toMatchObject({ request_id: 'mine', row: 'sessions.list', ip: '1.2.3.4', method: 'GET' });
});

test.each([
  ['before it is sent', { method: 'POST', body: 'x'.repeat(1001) }, 413],
  ['because nobody is there', {}, 502],
])(
  'a request that is refused %s has one line and one id, and is counted once',
  async (_name, init, status) => {
    const { log, ofRequests } = collected();
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    await using served = await through(nowhere, { 'upstream.maxBodyBytes': 1000 }, { log });
    const response = await fetch(`${served.url}/v1/files`, init);
    const body = (await response.json()) as Record<string, unknown>;
    expect([response.status, response.headers.get('x-content-type-options')]).toEqual([status, 'nosniff']);
    await expect.poll(() => ofRequests().length).toBe(1);
    expect(ofRequests()[0]).toMatchObject({ request_id: body['request_id'], status });
    expect(response.headers.get('request-id')).toBe(body['request_id']);
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    const counted = metrics.split('\n').filter((line) => line.startsWith('sallyport_requests_total'));
    expect(counted).toEqual([expect.stringMatching(new RegExp(`status="${String(status)[0]}xx".* 1$`))]);
  },
);

test('the log has which upstream it was that failed, and how; the caller has not', async () => {
  const clock = new ManualClock();
  const { log, ofFailures } = collected();
  await using silent = await rawUpstream(() => undefined);
  await using cutting = await rawUpstream((socket) => socket.resetAndDestroy());
  const upstreams = JSON.stringify({ messages: cutting.url });
  await using served = await through(silent.url, { upstreams }, { log, clock });
  const late = fetch(`${served.url}/api/oauth/profile`);
  await until(() => silent.heads.length === 1);
  await clock.advance(3_000);
  const answers = [await late];
  for (let round = 0; round < 6; round++)
    answers.push(await fetch(`${served.url}/v1/messages`, { method: 'POST', body: '{}' }));
  const told = await Promise.all(answers.map((one) => one.text()));
  expect(told.join('')).not.toContain('127.0.0.1');
  const logged = ofFailures().map(({ err }) =>
    (({ message, code }) => [message, code])(err as Record<string, unknown>),
  );
  expect([logged[0], logged[1], logged[6]]).toEqual([
    [`${silent.url} did not answer in time`, undefined],
    [
      expect.stringMatching(`^${cutting.url}: (read ECONNRESET|write EPIPE|The server has hung up\\.)`),
      expect.any(String),
    ],
    [`${cutting.url} is not asked: its breaker is open`, undefined],
  ]);
});

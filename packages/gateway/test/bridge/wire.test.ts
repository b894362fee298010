import { once } from 'node:events';
import { createRequire } from 'node:module';
import { EventSource } from 'eventsource';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createSession, register, serveBridge, type Bridge } from './serve-bridge.ts';
import { show, type Shown } from './shown.ts';

// The raw wire, by programs that nobody here wrote.
const bearer = (token: string) => `Authorization: Bearer ${token}`;
const version = 'vendor-version: 2023-06-01';
const wscat = createRequire(import.meta.url).resolve('wscat/bin/wscat');

const curl = (...args: string[]): Shown => show('curl', '-sS', ...args);
const seqs = (shown: string) => [...shown.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
const exited = '{"id":"x","type":"worker.exited","data":{"exit_code":0,"signal":null}}';
const note = (text: string) => ({ id: text, type: 'note', data: { text } });

async function openSession(bridge: Bridge) {
  const environmentId = await register(bridge);
  const { id, work_id: workId } = await createSession(bridge, environmentId, [note('first')]);
  const append = (text: string) =>
    bridge.client.sessions.append({ params: { id }, body: { events: [note(text)] as never } });
  return { environmentId, id, workId, append, stream: `${bridge.url}/v1/sessions/${id}/events/stream` };
}

/** A session whose worker holds its token: what is left is the stream. */
async function workerOf(bridge: Bridge) {
  const { client, url } = bridge;
  const session = await openSession(bridge);
  const params = { env_id: session.environmentId };
  await client.bridge.poll({ params });
  await client.bridge.ack({ params: { ...params, work_id: session.workId } });
  const { worker_jwt: token } = await client.worker.bridge({ params: { id: session.id } });
  await client.worker.register({ params: { id: session.id }, bearer: token });
  const address = `${url.replace('http', 'ws')}/v1/code/sessions/${session.id}/worker/events/stream`;
  return { ...session, token, address };
}

async function statusOf({ client }: Bridge, id: string): Promise<string> {
  return (await client.sessions.get({ params: { id } })).status;
}

describe('curl', () => {
  test('is answered while its poll is held, or with null when the time is over', async () => {
    const bridge = await serveBridge();
    const environmentId = await register(bridge);
    const poll = `${bridge.url}/v1/environments/${environmentId}/work/poll`;
    const empty = curl('-w', ' %{http_code} %{time_total}', '-H', bearer('access'), `${poll}?block_ms=300`);
    const [, body, status, seconds] = await empty.match(/^(\S+) (\d+) ([\d.]+)$/);
    expect([body, status]).toEqual(['null', '200']);
    expect(Number(seconds)).toBeGreaterThanOrEqual(0.3);

    const held = curl('-v', '-H', bearer('access'), `${poll}?block_ms=60000`);
    await held.match(/^> GET /m);
    const { id, work_id: workId } = await createSession(bridge, environmentId);
    await held.match(new RegExp(`{"id":"${workId}","data":{"type":"session","id":"${id}"}}`));
    expect(await held.ended).toBe(0);

    const ack = ['-X', 'POST', `${bridge.url}/v1/environments/${environmentId}/work/${workId}/ack`];
    await curl('-H', bearer('access'), ...ack).match(/"state":"active"/);
    await curl('-H', bearer('access'), ...ack).match(/"error":"ack_already_processed"/);
  });

  test('shows the events of a session as they come, and those after Last-Event-ID', async () => {
    const bridge = await serveBridge();
    const { append, stream } = await openSession(bridge);
    const live = curl('-N', '-i', '-H', bearer('access'), `${stream}?beta=true`);
    await live.match(/^id: 1\ndata: \{.*"type":"note".*\}\n\n/m);
    expect(live.text()).toMatch(/^content-type: text\/event-stream/m);
    expect(live.text()).toMatch(/^x-accel-buffering: no\r$/m);
    await append('second');
    await live.match(/^id: 2\ndata: .*"text":"second"/m);
    const later = curl('-N', '-H', bearer('access'), '-H', 'Last-Event-ID: 1', stream);
    await later.match(/^id: 2$/m);
    await append('third');
    await Promise.all([later.match(/^id: 3$/m), live.match(/^id: 3$/m)]);
    expect(seqs(later.text())).toEqual([2, 3]);
    expect(seqs(live.text())).toEqual([1, 2, 3]);

    live.end();
    const beyond = curl('-N', '-H', bearer('access'), '-H', 'Last-Event-ID: 99', stream);
    await beyond.match(/^event: resync_required$/m);
  });

  test('sees a comment every 15 s while nothing happens', async () => {
    const httpClock = new ManualClock();
    const bridge = await serveBridge({ httpClock });
    const { append, stream } = await openSession(bridge);
    const quiet = curl('-N', '-H', bearer('access'), stream);
    await quiet.match(/event: caught_up\n.*\n\n/);
    for (const beats of [1, 2, 3]) {
      await httpClock.advance(15_000);
      await quiet.match(new RegExp(`(: ka\\n\\n){${beats}}$`));
    }
    await append('at last');
    await quiet.match(/: ka\n\nid: 2\ndata: /);
  });

  test('reads the stream of a worker, and posts for it', async () => {
    const bridge = await serveBridge();
    const { id, token, append, address } = await workerOf(bridge);
    const url = address.replace('ws:', 'http:');
    const events = ['-H', 'Accept: text/event-stream'];
    const refused = curl('-w', '\n%{http_code}', '-H', bearer(token), ...events, url);
    await refused.match(/vendor-version.*\n400$/s);
    const live = curl('-N', '-H', bearer(token), '-H', version, ...events, url);
    await live.match(/^event: caught_up$/m);
    await append('go on');
    await live.match(/"text":"go on"/);
    const json = ['-H', 'Content-Type: application/json', '-d', `{"events":[${exited}]}`];
    await curl('-H', bearer(token), ...json, url.replace(/\/stream$/, '')).match(/"id":"x","seq":\d+/);
    expect(await statusOf(bridge, id)).toBe('done');
  });
});

describe('eventsource', () => {
  test('comes back after a cut with Last-Event-ID and misses nothing, twice nothing', async () => {
    const bridge = await serveBridge();
    const { append, stream } = await openSession(bridge);
    const asked: (string | null)[] = [];
    const source = new EventSource(stream, {
      fetch(input, init) {
        asked.push(new Headers(init.headers).get('last-event-id'));
        return fetch(input, { ...init, headers: { ...init.headers, authorization: 'Bearer access' } });
      },
    });
    const heard: string[] = [];
    const waits = new Map<string, () => void>();
    source.addEventListener('message', ({ data, lastEventId }) => {
      const { seq, data: content } = JSON.parse(String(data)) as { seq: number; data: { text: string } };
      expect(lastEventId).toBe(String(seq));
      heard.push(content.text);
      waits.get(content.text)?.();
    });
    const hears = (text: string) =>
      heard.includes(text) ? Promise.resolve() : new Promise<void>((resolve) => waits.set(text, resolve));
    try {
      await append('second');
      await hears('second');
      const cut = once(source, 'error');
      bridge.listener.server.closeAllConnections();
      await cut;
      expect(source.readyState).toBe(EventSource.CONNECTING);
      await append('while it was away');
      await hears('while it was away');
      await append('and after');
      await hears('and after');
      expect(heard).toEqual(['first', 'second', 'while it was away', 'and after']);
      expect(asked).toEqual([null, '2']);
    } finally {
      source.close();
    }
  });

  test('does not come back where the answer is no stream', async () => {
    const bridge = await serveBridge();
    const source = new EventSource(`${bridge.url}/v1/sessions/session_nope/events/stream`, {
      fetch: (input, init) =>
        fetch(input, { ...init, headers: { ...init.headers, authorization: 'Bearer access' } }),
    });
    const [error] = (await once(source, 'error')) as [{ code?: number }];
    expect(error.code).toBe(404);
    expect(source.readyState).toBe(EventSource.CLOSED);
  });
});

describe('ws', () => {
  test('is the stream of a worker: events in, acknowledged events out, resumed from where it was', async () => {
    const bridge = await serveBridge();
    const { id, token, address, append } = await workerOf(bridge);
    const headers = { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' };
    const first = frames(new WebSocket(address, { headers }));
    expect(await first.until('caught_up')).toMatchObject({ seq: 2 });
    expect(first.seen).toMatchObject([{ seq: 1, type: 'note' }, { seq: 2, type: 'session.updated' }, {}]);
    first.socket.send(JSON.stringify({ id: 'o1', type: 'session.output', data: { text: 'ho' } }));
    expect(await first.until('ack')).toEqual({ type: 'ack', id: 'o1', seq: 3 });
    first.socket.send(JSON.stringify({ type: 'ack', seq: 2 }));
    first.socket.terminate();

    await append('while it was away');
    const second = frames(new WebSocket(`${address}?from_seq=2`, { headers }));
    await second.until('caught_up');
    expect(second.seen).toMatchObject([{ seq: 4, data: { text: 'while it was away' } }, { seq: 4 }]);
    second.socket.send(JSON.stringify({ id: 'o1', type: 'session.output', data: { text: 'ho' } }));
    expect(await second.until('ack')).toMatchObject({ id: 'o1', seq: 3 });
    second.socket.send(exited);
    expect(await second.until('ack')).toEqual({ type: 'ack', id: 'x', seq: 5 });
    second.socket.terminate();
    expect(await statusOf(bridge, id)).toBe('done');
  });

  test.each([
    ['no token', { 'vendor-version': '2023-06-01' }, 401],
    ['the token of a login', { authorization: 'Bearer access', 'vendor-version': '2023-06-01' }, 401],
    ['no vendor-version', { authorization: 'Bearer ' }, 400],
  ])('is refused before the upgrade with %s', async (_what, headers: Record<string, string>, status) => {
    const bridge = await serveBridge();
    const { token, address } = await workerOf(bridge);
    const sent = { ...headers };
    if (sent['authorization'] === 'Bearer ') sent['authorization'] += token;
    const [error] = (await once(new WebSocket(address, { headers: sent }), 'error')) as [Error];
    expect(error.message).toContain(String(status));
  });
});

describe('wscat', () => {
  test('is a worker, by hand', async () => {
    const bridge = await serveBridge();
    const { id, token, address, append } = await workerOf(bridge);
    const cat = show(
      process.execPath,
      wscat,
      '-c',
      address,
      '-H',
      bearer(token),
      '-H',
      version,
      '--no-color',
    );
    await cat.match(/"type":"caught_up"/);
    await append('go on');
    await cat.match(/"seq":3,.*"text":"go on"/);
    cat.type('{"type":"ack","seq":3}');
    cat.type('{"id":"o1","type":"session.output","data":{"text":"by hand"}}');
    await cat.match(/\{"type":"ack","id":"o1","seq":4\}/);
    cat.type('no JSON');
    await cat.match(/"type":"error"/);
    cat.type(exited);
    await cat.match(/\{"type":"ack","id":"x","seq":5\}/);
    expect(await statusOf(bridge, id)).toBe('done');
  });
});

/** What a socket was sent so far; `until`: the next frame of a type. */
function frames(socket: WebSocket) {
  const seen: { readonly type: string }[] = [];
  const waits = new Map<string, (frame: object) => void>();
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as { type: string };
    seen.push(frame);
    waits.get(frame.type)?.(frame);
  });
  const until = (type: string) => new Promise<object>((resolve) => waits.set(type, resolve));
  return { socket, seen, until };
}

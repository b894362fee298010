import { once } from 'node:events';
import type { Caller } from '@sallyport/bridge/server';
import type { SessionEvent } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openHarness, owner, sessionRequest, type Harness } from './harness.ts';
import { handshake, prompt, runningSession, settled } from './running-session.ts';
import { createSession, register, serveBridge } from './serve-bridge.ts';

const bob: Caller = { ...owner, accountId: 'bob' };
const gone: Caller = { ...owner, accountId: 'gone' };
const ann = { id: 'ann', email: 'ann@example.com' };
const message = (id: string, more: object = {}) => ({
  id,
  type: 'session.message',
  data: { text: id },
  ...more,
});

/** What a follower reads of the log by now. */
async function followed({ engine }: Harness, id: string, caller = owner): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const { signal } = new AbortController();
  for await (const item of await engine.sessions.follow(caller, id, { from: 0, signal })) {
    if (item.kind === 'notice') break;
    events.push(item.event);
  }
  return events;
}

test('what a member sent says so to followers and to the worker; what worker and service report says nobody', async () => {
  const run = await runningSession();
  const { socket } = await handshake(run, run.id);
  await run.engine.sessions.append(bob, run.id, [message('from bob')]);
  await run.engine.sessions.append(gone, run.id, [message('from gone')]);
  socket.say({ id: 'from worker', type: 'session.output', data: { stream: 'stdout', text: 'x' } });
  await settled();
  const senders = [
    ['prompt', ann],
    ['from bob', { id: 'bob', email: 'bob@example.com' }],
    ['from gone', { id: 'gone', email: null }],
  ];
  const events = await followed(run, run.id);
  const withSender = (all: readonly object[]) =>
    (all as SessionEvent[]).filter((each) => 'account' in each).map(({ id, account }) => [id, account]);
  expect(withSender(events)).toEqual(senders);
  expect(withSender(socket.frames)).toEqual(senders);
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['session.output', 'session.updated']),
  );
});

test('nobody says in whose name an event comes: neither a client nor a worker', async () => {
  const run = await runningSession();
  const { socket, claims } = await handshake(run, run.id);
  const account = { id: 'bob', email: 'bob@example.com' };
  const forged = { account, account_id: 'bob', accountId: 'bob', origin: 'client' };
  await run.engine.sessions.append(owner, run.id, [message('client', forged)]);
  socket.say(message('worker', forged));
  await settled();
  const posted = { events: [message('posted', forged)], takenSeq: undefined };
  await run.engine.worker.append(claims, run.id, posted);
  const events = await followed(run, run.id);
  const of = (id: string) => events.find((each) => each.id === id);
  expect(of('client')?.account).toEqual(ann);
  for (const id of ['worker', 'posted']) {
    expect(of(id)).toMatchObject({ data: { text: id } });
    expect(of(id)).not.toHaveProperty('account');
  }
});

test('an event that is sent again, by whomever, keeps its first sender', async () => {
  const run = await runningSession();
  await run.engine.sessions.append(bob, run.id, [message('answer')]);
  await run.engine.sessions.append(owner, run.id, [message('answer'), { ...prompt }]);
  const events = await followed(run, run.id);
  expect(events.map(({ id, account }) => [id, account?.id]).filter(([, id]) => id)).toEqual([
    ['prompt', 'ann'],
    ['answer', 'bob'],
  ]);
});

test('who forgets a sender forgets no other one, a bounded number at a time', async () => {
  const { engine, register: registered, acts, ...rest } = openHarness();
  const { id } = await engine.sessions.create(owner, sessionRequest(await registered()));
  await engine.sessions.append(bob, id, [message('1'), message('2'), message('3')]);
  await engine.sessions.append(owner, id, [message('4')]);
  const forget = () => acts.forgetSender({ accountId: 'bob', limit: 2 });
  expect([await forget(), await forget(), await forget()]).toEqual([2, 1, 0]);
  const events = await followed({ engine, register: registered, acts, ...rest }, id);
  expect(events.map((each) => each.account)).toEqual([undefined, undefined, undefined, ann]);
});

test('over a WebSocket and as server-sent events the envelope has who sent it', async () => {
  const bridge = await serveBridge();
  const { client, url } = bridge;
  const env_id = await register(bridge);
  const { id, work_id } = await createSession(bridge, env_id, [{ type: 'note', data: {} }]);
  await client.bridge.poll({ params: { env_id } });
  await client.bridge.ack({ params: { env_id, work_id } });
  const { worker_jwt: token } = await client.worker.bridge({ params: { id } });
  const headers = { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' };
  const path = `/v1/code/sessions/${id}/worker/events/stream`;
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
  const [frame] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  const inbound = JSON.parse(frame.toString()) as SessionEvent;
  expect(inbound.account).toEqual({ id: 'account', email: 'account@example.com' });

  const streams = [
    [path, headers],
    [`/v1/sessions/${id}/events/stream?beta=true`, { authorization: 'Bearer access' }],
  ] as const;
  for (const [at, given] of streams) {
    const leaving = new AbortController();
    const { body } = await fetch(`${url}${at}`, {
      headers: { ...given, accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>)
      if ((text += decoder.decode(piece)).includes('id: 1\n')) break;
    leaving.abort();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? '';
    expect([at, JSON.parse(data)]).toMatchObject([at, { account: inbound.account }]);
  }
});

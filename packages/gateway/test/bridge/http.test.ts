import { once } from 'node:events';
import { streamSession } from '@sallyport/core/client';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createSession, register, runner, serveBridge } from './serve-bridge.ts';

function openSocket(url: string, sessionId: string, token: string): WebSocket {
  const address = `${url.replace('http', 'ws')}/v1/code/sessions/${sessionId}/worker/events/stream`;
  return new WebSocket(address, {
    headers: { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' },
  });
}

test('a session runs from its registration to its end', async () => {
  const bridge = await serveBridge();
  const { client, url, clientOptions } = bridge;
  const env = await register(bridge);
  const held = client.bridge.poll({ params: { env_id: env }, query: { block_ms: 10_000 } });
  const session = await createSession(bridge, env, [{ type: 'session.message', data: { text: 'hi' } }]);
  expect(session).toMatchObject({ status: 'queued', environment_id: env });
  const work = await held;
  expect(work).toEqual({ id: session.work_id, data: { type: 'session', id: session.id } });

  const workParams = { env_id: env, work_id: session.work_id };
  expect(await client.bridge.ack({ params: workParams })).toEqual({ id: session.work_id, state: 'active' });
  await expect(client.bridge.ack({ params: workParams })).rejects.toMatchObject({
    code: 'ack_already_processed',
    details: { yours: true },
  });

  const { worker_jwt, worker_epoch, api_base_url } = await client.worker.bridge({
    params: { id: session.id },
  });
  expect([worker_epoch, api_base_url]).toEqual([1, 'http://workers.example']);
  const registered = await client.worker.register({ params: { id: session.id }, bearer: worker_jwt });
  expect(registered).toEqual({ status: 'registered' });

  const socket = openSocket(url, session.id, worker_jwt);
  const caughtUp = new Promise<string[]>((resolve) => {
    const types: string[] = [];
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (types.push(type) && type === 'caught_up') resolve(types);
    });
  });
  expect(await caughtUp).toEqual(['session.message', 'session.updated', 'caught_up']);
  socket.send(JSON.stringify({ id: 'o1', type: 'session.output', data: { stream: 'stdout', text: 'ho' } }));
  socket.send(JSON.stringify({ id: 'x1', type: 'worker.exited', data: { exit_code: 0, signal: null } }));

  const followed: [number, string][] = [];
  for await (const frame of streamSession(clientOptions, session.id)) {
    if (frame.kind === 'event') followed.push([frame.event.seq, frame.event.type]);
    if (frame.kind === 'event' && frame.event.data['status'] === 'done') break;
  }
  expect(followed).toEqual([
    [1, 'session.message'],
    [2, 'session.updated'],
    [3, 'session.output'],
    [4, 'worker.exited'],
    [5, 'session.updated'],
  ]);
  expect(await client.sessions.get({ params: { id: session.id } })).toMatchObject({
    status: 'done',
    last_seq: 5,
  });
  socket.terminate();
});

test('a poll whose caller hangs up takes no work with it', async () => {
  const bridge = await serveBridge();
  const env = await register(bridge);
  const caller = new AbortController();
  const gone = bridge.client.bridge.poll({
    params: { env_id: env },
    query: { block_ms: 60_000 },
    signal: caller.signal,
  });
  const aborted = expect(gone).rejects.toMatchObject({ code: 'aborted' });
  // One round trip later it is held.
  await bridge.client.sessions.list();
  caller.abort();
  await aborted;
  const { work_id } = await createSession(bridge, env);
  const work = await bridge.client.bridge.poll({ params: { env_id: env }, query: { block_ms: 10_000 } });
  expect(work?.id).toBe(work_id);
});

test('a stale worker is refused before the upgrade, and its open socket is closed', async () => {
  const bridge = await serveBridge();
  const { client, url } = bridge;
  const session = await createSession(bridge, await register(bridge));
  const params = { id: session.id };
  const first = await client.worker.bridge({ params });
  const socket = openSocket(url, session.id, first.worker_jwt);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await client.worker.bridge({ params });
  expect((await closed)[0]).toBe(4090);
  const refused = openSocket(url, session.id, first.worker_jwt);
  const [error] = (await once(refused, 'error')) as [Error];
  expect(error.message).toContain('409');
});

test('a gateway that drains answers held polls and sends workers away', async () => {
  const bridge = await serveBridge();
  const { client, url } = bridge;
  const env = await register(bridge);
  const session = await createSession(bridge, env);
  const { worker_jwt } = await client.worker.bridge({ params: { id: session.id } });
  const socket = openSocket(url, session.id, worker_jwt);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  const held = client.bridge.poll({ params: { env_id: env }, query: { block_ms: 60_000, types: 'none' } });
  await client.sessions.get({ params: { id: session.id } });
  await bridge.close();
  expect(await held).toBeNull();
  expect((await closed)[0]).toBe(1012);
});

test('the list of environments goes on by its Link', async () => {
  const bridge = await serveBridge();
  for (const directory of ['/a', '/b', '/c'])
    await bridge.client.bridge.register({
      headers: { ...runner, 'vendor-worker-id': 'w1', 'x-trusted-device-token': 'device' },
      body: { machine_name: 'laptop', directory },
    });
  const path = '/v1/environment_providers/private/organizations/organization/environments';
  const directories: string[] = [];
  let next: string | undefined = `${path}?limit=2`;
  while (next !== undefined) {
    const response: Response = await fetch(bridge.url + next, {
      headers: { authorization: 'Bearer access' },
    });
    const page = (await response.json()) as { environments: { directory: string }[]; has_more: boolean };
    directories.push(...page.environments.map(({ directory }) => directory));
    next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    expect(page.has_more).toBe(next !== undefined);
  }
  expect(directories).toEqual(['/c', '/b', '/a']);
});

test('a bridge says that it stops, registers again at once, and takes its work up', async () => {
  const bridge = await serveBridge();
  const { client } = bridge;
  const params = { env_id: await register(bridge) };
  const { id, work_id } = await createSession(bridge, params.env_id);
  await client.bridge.poll({ params });
  await client.bridge.ack({ params: { ...params, work_id } });
  await expect(register(bridge)).rejects.toMatchObject({ code: 'already_registered' });
  const other = { 'vendor-worker-id': 'w2' };
  expect(await client.bridge.disconnect({ params, headers: other })).toMatchObject({ status: 'online' });
  const left = await client.bridge.disconnect({ params, headers: { 'vendor-worker-id': 'w1' } });
  expect(left).toEqual({ environment_id: params.env_id, status: 'offline' });
  expect(await register(bridge)).toBe(params.env_id);
  const reconnect = { params, headers: runner, body: { session_id: id } };
  expect(await client.bridge.reconnect(reconnect)).toEqual({
    environment_id: params.env_id,
    session_id: id,
    state: 'queued',
  });
  expect(await client.bridge.poll({ params })).toMatchObject({ id: work_id });
});

test('a registration names the WebSocket on which the bridge is told of work', async () => {
  const bridge = await serveBridge();
  const registered = await bridge.client.bridge.register({
    headers: { ...runner, 'vendor-worker-id': 'w1', 'x-trusted-device-token': 'device' },
    body: { machine_name: 'laptop', directory: '/src' },
  });
  const path = `/v1/environments/${registered.environment_id}/bridge/ws`;
  expect(registered.bridge_ws_url).toBe(`ws://workers.example${path}`);
  const address = bridge.url.replace('http', 'ws') + path;
  const refused = new WebSocket(address.replace('env_', 'env_x'), {
    headers: { authorization: 'Bearer access' },
  });
  expect(((await once(refused, 'error')) as [Error])[0].message).toContain('404');
  const socket = new WebSocket(address, { headers: { authorization: 'Bearer access' } });
  await once(socket, 'open');
  const told = once(socket, 'message');
  const { work_id } = await createSession(bridge, registered.environment_id);
  expect(JSON.parse(String((await told)[0]))).toEqual({ type: 'work.available', work_id });
  const closed = once(socket, 'close');
  await bridge.close();
  expect((await closed)[0]).toBe(1012);
});

test('a worker behind a proxy that breaks WebSockets reads server-sent events and posts its own', async () => {
  const bridge = await serveBridge();
  const { client, url } = bridge;
  const env = await register(bridge);
  const { id, work_id } = await createSession(bridge, env, [
    { type: 'session.message', data: { text: 'hi' } },
  ]);
  await client.bridge.poll({ params: { env_id: env } });
  await client.bridge.ack({ params: { env_id: env, work_id } });
  const { worker_jwt: bearer } = await client.worker.bridge({ params: { id } });
  const headers = { 'vendor-version': '2023-06-01' } as const;
  const events = await fetch(`${url}/v1/code/sessions/${id}/worker/events/stream`, {
    headers: { ...headers, authorization: `Bearer ${bearer}`, accept: 'text/event-stream' },
  });
  expect(events.headers.get('content-type')).toContain('text/event-stream');
  const lines = linesOf(events);
  expect(await untilLine(lines, 'event: caught_up')).toContain('id: 1');

  const post = (body: object) => client.worker.events({ params: { id }, bearer, body: body as never });
  expect(await post({ ack: 2 })).toEqual({ events: [] });
  const output = { id: 'o1', type: 'session.output', data: { text: 'ho' } };
  expect(await post({ events: [output] })).toEqual({ events: [{ id: 'o1', seq: 3 }] });
  expect(await post({ events: [output] })).toEqual({ events: [{ id: 'o1', seq: 3 }] });
  await expect(post({ events: [{ id: 'o2', type: 'session.updated' }] })).rejects.toMatchObject({
    status: 400,
  });
  await expect(
    client.bridge.reconnect({ params: { env_id: env }, headers: runner, body: { session_id: id } }),
  ).rejects.toMatchObject({ code: 'session_active' });

  const stop = { params: { env_id: env, work_id }, body: { force: false, reason: 'bridge_stopped' } };
  await client.bridge.stop(stop);
  await expect(client.bridge.stop({ ...stop, body: { reason: 'No code' } })).rejects.toMatchObject({
    status: 400,
  });
  expect(await untilLine(lines, 'session.updated')).toContain('control.stop');
  const exit = { id: 'x', type: 'worker.exited', data: { exit_code: 0, signal: null } };
  await expect(post({ events: [exit, { id: 'late', type: 'note' }] })).rejects.toMatchObject({
    code: 'session_ended',
    details: { events: [{ id: 'x', seq: 6 }] },
  });
  expect(await client.sessions.get({ params: { id } })).toMatchObject({ status: 'stopped' });
  expect(await untilLine(lines, '"status":"stopped"')).toContain('"reason":"bridge_stopped"');
  await bridge.close();
  expect(await untilLine(lines, 'event: close')).toContain('draining');
});

async function* linesOf(response: Response): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Everything up to the line that has the text. */
async function untilLine(lines: AsyncGenerator<string, void>, text: string): Promise<string> {
  let read = '';
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    read += `${next.value}\n`;
    if (next.value.includes(text)) return read;
  }
  throw new Error(`The stream ended without ${text}: ${read}`);
}

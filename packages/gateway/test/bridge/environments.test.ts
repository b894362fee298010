import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createSession, register, runner, serveBridge, type Bridge } from './serve-bridge.ts';

const place = { machine_name: 'Build-1', directory: '/srv' };
const beta = { 'vendor-beta': 'managed-agents-2026-04-01' };
const timestamp = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string;

let bridge: Bridge;
beforeEach(async () => void (bridge = await serveBridge()));

async function call(
  method: string,
  path: string,
  { body, headers = beta, token = 'access' }: { body?: unknown; headers?: object; token?: string } = {},
) {
  const answer = await fetch(`${bridge.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, link: answer.headers.get('link'), body: await answer.json() };
}

async function create(body: object = place, idempotencyKey?: string): Promise<string> {
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  return (await bridge.client.environments.create({ headers, body: body as never })).id;
}

async function listed(query: { name?: string; limit?: number } = {}): Promise<string[]> {
  return (await bridge.client.environments.list({ query })).map(({ id }) => id);
}

const registerOn = async (environmentId: string, metadata = {}) =>
  (
    await bridge.client.bridge.register({
      headers: { ...runner, 'vendor-worker-id': 'w1', 'x-trusted-device-token': 'device' },
      body: { machine_name: 'laptop', directory: '/src', environment_id: environmentId, metadata },
    })
  ).environment_id;

/** Work that its worker has begun, and the worker's WebSocket. */
async function running(environmentId: string) {
  const { client, url } = bridge;
  const session = await createSession(bridge, environmentId);
  const params = { env_id: environmentId, work_id: session.work_id };
  await client.bridge.poll({ params });
  await client.bridge.ack({ params });
  const { worker_jwt } = await client.worker.bridge({ params: { id: session.id } });
  const address = `${url.replace('http', 'ws')}/v1/code/sessions/${session.id}/worker/events/stream`;
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${worker_jwt}`, 'vendor-version': '2023-06-01' },
  });
  const frames: { type: string; data?: object }[] = [];
  const arrived = new Map<string, () => void>();
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as { type: string };
    frames.push(frame);
    arrived.get(frame.type)?.();
  });
  const frame = (type: string) =>
    new Promise<void>((resolve) => {
      arrived.set(type, resolve);
      if (frames.some((each) => each.type === type)) resolve();
    });
  await frame('caught_up');
  return { ...session, socket, frames, frame, closed: once(socket, 'close') };
}

const status = async (sessionId: string) =>
  (await bridge.client.sessions.get({ params: { id: sessionId } })).status;

describe('a managed environment', () => {
  test('is created whole, read, changed member by member, archived, and deleted', async () => {
    const metadata = { os: 'linux', arch: null, nested: { a: 1, b: 2 } };
    const created = await call('POST', '/v1/environments', { body: { ...place, metadata, unknown: 1 } });
    expect(created).toMatchObject({
      status: 201,
      body: { ...place, metadata, created_at: timestamp, updated_at: timestamp, archived_at: null },
    });
    const { id } = created.body as { id: string };
    expect(id).toMatch(/^env_\w{26}$/);
    const path = `/v1/environments/${id}`;
    expect(await call('GET', path)).toMatchObject({ status: 200, body: created.body });

    const body = { directory: '/new', metadata: { os: null, nested: { c: 3 }, gone: null, tag: 'x' } };
    const updated = { ...place, directory: '/new', metadata: { arch: null, nested: { c: 3 }, tag: 'x' } };
    expect(await call('POST', path, { body })).toMatchObject({ status: 200, body: updated });
    const read = (await call('GET', path)).body as { metadata: object };
    expect(read.metadata).toEqual(updated.metadata);
    expect(await call('POST', path, { body: {} })).toMatchObject({ status: 200, body: updated });

    expect(await call('POST', `${path}/archive`)).toMatchObject({
      status: 200,
      body: { ...updated, archived_at: timestamp },
    });
    expect(await call('POST', `${path}/archive`, { body: {} })).toMatchObject({
      status: 409,
      body: { error: 'already_archived' },
    });
    expect(await call('GET', path)).toMatchObject({ status: 200, body: { archived_at: timestamp } });
    expect(await listed()).toEqual([id]);
    expect(await call('DELETE', path)).toMatchObject({ status: 200, body: { id, deleted: true } });
    for (const method of ['GET', 'DELETE']) expect((await call(method, path)).status).toBe(404);
    expect(await listed()).toEqual([]);
  });

  test('is made once by a repeated request under one Idempotency-Key', async () => {
    const id = await create(place, 'k');
    expect(await create(place, 'k')).toBe(id);
    expect(await create(place, 'other')).not.toBe(id);
    expect(await create()).not.toBe(id);
    await expect(create({ ...place, directory: '/b' }, 'k')).rejects.toMatchObject({ status: 400 });
    expect(await listed()).toHaveLength(3);
    await bridge.client.environments.delete({ params: { env_id: id } });
    expect(await create(place, 'k')).not.toBe(id);
  });

  test('takes sessions before it has a bridge; what waits there can be stopped', async () => {
    const id = await create();
    const [first, second] = [await createSession(bridge, id), await createSession(bridge, id)];
    await expect(bridge.client.bridge.poll({ params: { env_id: id } })).rejects.toMatchObject({
      code: 'not_found',
    });
    await bridge.client.bridge.stop({ params: { env_id: id, work_id: first.work_id }, body: {} });
    expect(await status(first.id)).toBe('stopped');
    expect(await registerOn(id)).toBe(id);
    const work = await bridge.client.bridge.poll({ params: { env_id: id } });
    expect(work?.id).toBe(second.work_id);
  });

  test('keeps its name and metadata when a bridge registers on it, and its record when the bridge is removed', async () => {
    const id = await create({ ...place, metadata: { team: 'a', worker_type: 'ci' } });
    expect(await registerOn(id, { os: 'linux' })).toBe(id);
    const params = { env_id: id };
    const record = { machine_name: place.machine_name, directory: '/src' };
    const metadata = { team: 'a', worker_type: 'ci', os: 'linux' };
    expect(await bridge.client.environments.get({ params })).toMatchObject({ ...record, metadata });
    const listOf = async (types: string) =>
      bridge.client.bridge.list({
        params: { org_uuid: 'organization' },
        query: { included_worker_types: types },
      });
    expect((await listOf('ci')).environments).toMatchObject([{ environment_id: id, status: 'online' }]);
    expect(await listed({ name: 'laptop' })).toEqual([]);
    expect(await listed({ name: place.machine_name.toUpperCase() })).toEqual([id]);
    await expect(registerOn(id)).rejects.toMatchObject({ code: 'already_registered' });

    const { id: sessionId, closed } = await running(id);
    await bridge.client.bridge.unregister({ params: { environment_id: id } });
    expect((await closed)[0]).toBe(4410);
    expect(await status(sessionId)).toBe('stopped');
    await expect(bridge.client.bridge.poll({ params })).rejects.toMatchObject({
      code: 'environment_deleted',
    });
    await expect(bridge.client.bridge.unregister({ params: { environment_id: id } })).rejects.toMatchObject({
      status: 404,
    });
    expect((await listOf('ci')).environments).toEqual([]);
    expect(await listed()).toEqual([id]);
    expect(await registerOn(id)).toBe(id);
    expect(await bridge.client.bridge.poll({ params })).toBeNull();
  });
});

test("a bridge's own environment is read by its id, and not listed", async () => {
  const id = await register(bridge);
  const params = { env_id: id };
  expect(await bridge.client.environments.get({ params })).toMatchObject({ id, machine_name: 'laptop' });
  expect(await listed()).toEqual([]);
});

describe('archiving', () => {
  test('sends the bridge away, stops work gracefully, and takes no more', async () => {
    const id = await create();
    await registerOn(id);
    const params = { env_id: id };
    const active = await running(id);
    const waiting = await createSession(bridge, id);
    const held = bridge.client.bridge.poll({ params, query: { block_ms: 60_000, types: 'none' } });
    const refused = expect(held).rejects.toMatchObject({ code: 'environment_deleted' });
    await bridge.client.sessions.list();
    await bridge.client.environments.archive({ params });
    await refused;
    expect(await status(waiting.id)).toBe('stopped');
    await active.frame('control.stop');
    expect(await status(active.id)).toBe('stopping');
    active.socket.send(JSON.stringify({ id: 'x', type: 'worker.exited', data: { exit_code: 0 } }));
    await active.frame('ack');
    expect(await status(active.id)).toBe('stopped');

    await expect(bridge.client.bridge.poll({ params })).rejects.toMatchObject({ status: 404 });
    await expect(createSession(bridge, id)).rejects.toMatchObject({ status: 404 });
    const query = { params: { org_uuid: 'organization' } };
    expect((await bridge.client.bridge.list(query)).environments).toEqual([]);
    // The same machine starts anew: it is another environment.
    expect(await registerOn(id)).not.toBe(id);
  });
});

describe('deleting', () => {
  test('ends bridge, streams and work at once, also when it is archived', async () => {
    const id = await create();
    await registerOn(id);
    const { id: sessionId, closed } = await running(id);
    const params = { env_id: id };
    const hints = new WebSocket(`${bridge.url.replace('http', 'ws')}/v1/environments/${id}/bridge/ws`, {
      headers: { authorization: 'Bearer access' },
    });
    await once(hints, 'open');
    const hintsClosed = once(hints, 'close');
    await bridge.client.environments.archive({ params });
    const held = await register(bridge);
    expect(held).not.toBe(id);
    await bridge.client.environments.delete({ params });
    expect([(await closed)[0], (await hintsClosed)[0]]).toEqual([4410, 4410]);
    expect(await status(sessionId)).toBe('stopped');
    await expect(bridge.client.bridge.poll({ params })).rejects.toMatchObject({
      code: 'environment_deleted',
    });
    await expect(createSession(bridge, id)).rejects.toMatchObject({ status: 404 });
  });

  test("takes a bridge's own environment, too", async () => {
    const id = await register(bridge);
    const held = bridge.client.bridge.poll({ params: { env_id: id }, query: { block_ms: 60_000 } });
    const refused = expect(held).rejects.toMatchObject({ code: 'environment_deleted' });
    await bridge.client.sessions.list();
    await bridge.client.environments.delete({ params: { env_id: id } });
    await refused;
  });
});

describe('the list', () => {
  test('is an array of the newest first, its next page in Link, whose token is checked', async () => {
    const ids = [await create(), await create(), await create()].reverse();
    const first = await call('GET', '/v1/environments?limit=2&name=build');
    expect(first.body).toMatchObject([{ id: ids[0] }, { id: ids[1] }]);
    const next = /^<(\/v1\/environments\?limit=2&name=build&offset=[\w-]+)>; rel="next"$/.exec(
      first.link!,
    )?.[1];
    const second = await call('GET', next!);
    expect(second).toMatchObject({ status: 200, link: null, body: [{ id: ids[2] }] });
    for (const offset of ['', 'x', '2', '%F0%9F', Buffer.from('1').toString('base64url')])
      expect(await call('GET', `/v1/environments?offset=${offset}`)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', issues: [{ path: 'offset' }] },
      });
    for (const limit of ['0', '-1', 'x', '1.5', ''])
      expect((await call('GET', `/v1/environments?limit=${limit}`)).status).toBe(400);
    expect((await call('GET', '/v1/environments?limit=100000')).body).toHaveLength(3);
  });

  test('has 50 on a page where nothing is said', async () => {
    for (let count = 0; count < 51; count++) await create();
    expect(await listed()).toHaveLength(50);
  });

  test.each([
    ['Straße-1', 'STRASSE', true],
    ['ΟΔΥΣΣΕΥΣ', 'σσευς', true],
    ['Zürich', 'Zu\u0308RICH', true],
    ['ИВАН', 'ива', true],
    ['100%_sure', '%_S', true],
    ['100 sure', '%', false],
    ['abc', 'a_c', false],
    ["o'brien", "O'B", true],
    ['a\\b', '\\B', true],
    ['abc', '', true],
    ['abc', 'abcd', false],
  ])('by name: %j has %j: %s', async (name, part, isFound) => {
    const id = await create({ machine_name: name, directory: '/' });
    expect(await listed({ name: part })).toEqual(isFound ? [id] : []);
    await bridge.client.environments.update({ params: { env_id: id }, body: { machine_name: 'renamed' } });
    expect(await listed({ name: 'RENAMED' })).toEqual([id]);
  });

  test('misses nothing and repeats nothing while environments come and go', async () => {
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.constant('page' as const) },
      fc.constant('create' as const),
      fc.record({ remove: fc.nat(30) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 20 }),
        async (count, limit, steps) => {
          // Each run has a part of the list of its own; at once, so that some share their millisecond.
          const name = `run ${crypto.randomUUID()}`;
          const one = () => create({ machine_name: name, directory: '/' });
          const before = await Promise.all(Array.from({ length: count }, one));
          const alive = new Set(before);
          const seen: string[] = [];
          let next: string | undefined = `/v1/environments?limit=${limit}&name=${encodeURIComponent(name)}`;
          /** Whether there was one. */
          const page = async (): Promise<boolean> => {
            if (next === undefined) return false;
            const { body, link } = await call('GET', next);
            const ids = (body as { id: string }[]).map(({ id }) => id);
            for (const id of ids) expect(alive).toContain(id);
            seen.push(...ids);
            next = link === null ? undefined : /^<([^>]+)>/.exec(link)?.[1];
            return true;
          };
          for (const each of steps) {
            if (each === 'page') await page();
            else if (each === 'create') alive.add(await one());
            else {
              const id = [...alive][each.remove % alive.size];
              if (id === undefined) continue;
              alive.delete(id);
              await bridge.client.environments.delete({ params: { env_id: id } });
            }
          }
          while (await page());
          expect(new Set(seen).size).toBe(seen.length);
          for (const id of before) if (alive.has(id)) expect(seen).toContain(id);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('refusals', () => {
  const byId = ['GET', 'POST', 'DELETE', 'POST /archive'];
  const at = (row: string, id: string) => {
    const [method = '', rest = ''] = row.split(' ');
    const body = method === 'POST' ? { machine_name: 'changed' } : undefined;
    return (options: Parameters<typeof call>[2] = {}) =>
      call(method, `/v1/environments${id && `/${id}`}${rest}`, { ...(body && { body }), ...options });
  };
  const rows = ['GET list', 'POST create', ...byId] as const;
  const ask = (row: string, id: string) =>
    row.includes('list') || row.includes('create') ? at(row.split(' ')[0]!, '') : at(row, id);

  test.each(rows)('%s: 401, 403, 500', async (row) => {
    const id = await create();
    const send = ask(row, id);
    expect(await send({ token: 'nobody' })).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    // Before the body is looked at.
    const noBeta = await send({ headers: {}, ...(row.startsWith('POST') && { body: '{' }) });
    expect(noBeta).toMatchObject({ status: 403, body: { error: 'beta_not_enabled' } });
    expect(await send({ token: 'unscoped' })).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope' },
    });
    if (!row.startsWith('GET')) expect((await send({ token: 'viewer' })).status).toBe(403);
    const db = new DatabaseSync(bridge.path);
    db.exec('ALTER TABLE environment RENAME TO broken');
    db.close();
    const broken = await send({ ...(row.includes('create') && { body: place }) });
    expect(broken).toMatchObject({ status: 500, body: { error: 'internal_error' } });
  });

  test.each(byId)(
    "%s: 404 for another organization's, for none, for a malformed one, and for `bridge`",
    async (row) => {
      const id = await create();
      expect(await at(row, id)({ token: 'foreign' })).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
      for (const other of ['env_none', '%2e%2e%2fx', `env_${'x'.repeat(2000)}`])
        expect((await at(row, other)()).status).toBe(404);
      // POST is the registration's.
      if (row !== 'POST') expect((await at(row, 'bridge')()).status).toBe(404);
      expect(await bridge.client.environments.get({ params: { env_id: id } })).toMatchObject(place);
      expect(await call('GET', '/v1/environments', { token: 'foreign' })).toMatchObject({ body: [] });
    },
  );

  test.each(['POST', 'DELETE', 'POST /archive'])(
    "%s: 403 for a colleague's, unless one is an admin",
    async (row) => {
      const created = await call('POST', '/v1/environments', { body: place, token: 'colleague' });
      const { id: theirs } = created.body as { id: string };
      const mine = await create();
      expect(await at(row, mine)({ token: 'colleague' })).toMatchObject({
        status: 403,
        body: { error: 'forbidden' },
      });
      expect((await at('GET', mine)({ token: 'colleague' })).status).toBe(200);
      expect((await at(row, theirs)()).status).toBe(200);
    },
  );

  test.each([
    ['', 'not JSON at all', '{'],
    ['', 'no directory', { machine_name: 'a' }],
    ['', 'an empty name', { ...place, machine_name: '' }],
    ['', 'metadata that are no object', { ...place, metadata: [] }],
    ['/', 'a name that is none', { machine_name: 7 }],
    ['/', 'metadata that are null', { metadata: null }],
    ['/', 'not an object', '[]'],
  ])('POST /v1/environments%s: 400 for %s', async (rest, _what, body) => {
    const id = await create();
    const answer = await call('POST', `/v1/environments${rest && `/${id}`}`, { body });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await listed()).toEqual([id]);
  });
});

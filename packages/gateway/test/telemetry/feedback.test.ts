import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createIds, ServiceError, silentLog, systemClock, systemRandom } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { createBundleFiles, createFeedbackEngine, type BundleFiles } from '@sallyport/telemetry/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { zipOf } from '@sallyport/telemetry/testing';
import { feedbackGates, feedbackHandlers } from '../../src/routes/feedback.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve, testAuthenticator } from '../serve.ts';
import { scratchDirectory } from '../store/scratch.ts';

const path = '/api/agent_cli_feedback/bundle';
const MiB = 1024 ** 2;
const zip = zipOf({ name: 'log.txt', content: 'a line\n'.repeat(1000), deflate: true });

type RequestBody = NonNullable<RequestInit['body']>;

async function serveFeedback({
  zeroRetention = false,
  clock = systemClock,
  isRevoked = (): boolean => false,
  wrap = (files: BundleFiles): BundleFiles => files,
} = {}) {
  const directory = scratchDirectory();
  const bundles = join(directory, 'feedback');
  const store = await openEmbeddedStore({ path: join(directory, 'store.db') });
  const engine = createFeedbackEngine({
    store: store.feedback,
    files: wrap(createBundleFiles(bundles)),
    organizations: { isZeroDataRetention: () => Promise.resolve(zeroRetention) },
    clock,
    ids: createIds(systemClock, systemRandom),
    log: silentLog,
  });
  const served = await serve({
    handlers: { feedback: feedbackHandlers(engine, clock) },
    gates: feedbackGates(engine),
    authenticator: {
      ...testAuthenticator,
      async accessToken(token) {
        if (isRevoked()) throw new ServiceError('invalid_token', 'It was revoked.');
        return testAuthenticator.accessToken(token);
      },
    },
  });
  onTestFinished(async () => {
    await served.close();
    await store.close();
  });
  const upload = (body: RequestBody, headers: Record<string, string> = {}) =>
    fetch(served.url + path, {
      method: 'POST',
      body,
      headers: { authorization: 'Bearer access', ...headers },
    });
  /** What is on disk, parts included. */
  const files = () =>
    existsSync(bundles)
      ? readdirSync(bundles, { recursive: true })
          .map(String)
          .filter((name) => name !== 'tmp')
      : [];
  return { ...served, engine, store: store.feedback, bundles, upload, files };
}

function formOf(
  description: string | undefined,
  bundle: Uint8Array | undefined,
  name = 'bundle.zip',
): FormData {
  const form = new FormData();
  if (description !== undefined) form.append('description', description);
  if (bundle) form.append('bundle', new Blob([new Uint8Array(bundle)]), name);
  return form;
}

const errorOf = async (answer: Response) => {
  const body = (await answer.json()) as { error: string; issues?: { path: string }[] };
  return [answer.status, body.error, body.issues?.map(({ path: at }) => at)];
};

test('an upload is kept under its id, to the last byte, and recorded', async () => {
  const { upload, store, bundles, files } = await serveFeedback();
  const answer = await upload(formOf('It hangs.', zip, 'Gesprächs–日志.zip'));
  expect(answer.status).toBe(200);
  const { feedback_id: id } = (await answer.json()) as { feedback_id: string };
  expect(id).toMatch(/^fb_/);
  expect(files()).toEqual([`${id}.zip`]);
  expect(readFileSync(join(bundles, `${id}.zip`)).equals(zip)).toBe(true);
  expect(await store.findBundle({ id })).toMatchObject({
    accountId: 'account',
    organizationId: 'organization',
    description: 'It hangs.',
    fileName: 'Gesprächs–日志.zip',
    bytes: zip.length,
    entries: 1,
  });
});

test('the bundle may come before the description, and fields of another release beside them', async () => {
  const { upload } = await serveFeedback();
  const form = formOf(undefined, zip);
  form.append('later', 'x');
  form.append('description', '😀'.repeat(20_000));
  expect((await upload(form)).status).toBe(200);
});

describe('a form that is not as it must be is 400, names the field, and leaves nothing', () => {
  const twice = formOf('d', zip);
  twice.append('bundle', new Blob([new Uint8Array(zip)]), 'b.zip');
  const again = formOf('d', zip);
  again.append('description', 'e');
  const stranger = formOf('d', zip);
  stranger.append('core', new Blob(['x']), 'core');
  const asField = formOf('d', undefined);
  asField.append('bundle', 'text');
  const crowd = formOf('d', zip);
  for (let index = 0; index < 120; index++) crowd.append('x', 'y');

  test.each<[string, FormData, string[]]>([
    ['no description', formOf(undefined, zip), ['description']],
    ['no bundle', formOf('d', undefined), ['bundle']],
    ['neither', new FormData(), ['description', 'bundle']],
    ['a blank description', formOf(' \n', zip), ['description']],
    ['20,001 characters', formOf('😀'.repeat(20_001), zip), ['description']],
    ['far too long a description', formOf('x'.repeat(100_000), zip), ['description']],
    ['two bundles', twice, ['bundle']],
    ['two descriptions', again, ['description']],
    ['another file', stranger, ['form']],
    ['a bundle that is no file', asField, ['bundle']],
    ['an empty bundle', formOf('d', new Uint8Array()), ['bundle']],
    ['no ZIP', formOf('d', Buffer.from('not a ZIP at all, though it is long enough')), ['bundle']],
    ['a traversal', formOf('d', zipOf({ name: '../a' })), ['bundle']],
    ['too many parts', crowd, ['form']],
  ])('%s', async (_name, form, paths) => {
    const { upload, files } = await serveFeedback();
    expect(await errorOf(await upload(form))).toEqual([400, 'invalid_request', paths]);
    expect(files()).toEqual([]);
  });

  const multipart = { 'content-type': 'multipart/form-data; boundary=b' };
  /** A form with which nothing is wrong but perhaps its boundary, which may be quoted. */
  const formWith = (boundary: string) => {
    const line = `--${boundary.replaceAll('"', '')}`;
    const part = (more: string) => `${line}\r\ncontent-disposition: form-data; name=${more}\r\n\r\n`;
    const text = `${part('description')}d\r\n${part('bundle; filename=b.zip')}${zip.toString('latin1')}\r\n${line}--\r\n`;
    return {
      body: Buffer.from(text, 'latin1'),
      headers: { 'content-type': `multipart/form-data; charset=utf-8; boundary=${boundary}` },
    };
  };
  const boundaries = ['', '""', '" "', 'b'.repeat(71), 'b'.repeat(300)].map((boundary) => {
    const { body, headers } = formWith(boundary);
    return [`the boundary ${boundary}`, body, headers, 'form'] as const;
  });
  test.each<readonly [string, string | Uint8Array, Record<string, string>, string]>([
    ['no boundary', 'x', { 'content-type': 'multipart/form-data' }, 'form'],
    ...boundaries,
    [
      'a body that breaks off',
      '--b\r\nContent-Disposition: form-data; name="description"\r\n\r\nabc',
      multipart,
      'form',
    ],
    [
      'a description that is no UTF-8',
      Buffer.concat([
        Buffer.from('--b\r\nContent-Disposition: form-data; name="description"\r\n\r\n'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('\r\n--b--\r\n'),
      ]),
      multipart,
      'description',
    ],
  ])('%s', async (_name, body, headers, at) => {
    const { upload, files } = await serveFeedback();
    expect(await errorOf(await upload(body, headers))).toEqual([400, 'invalid_request', [at]]);
    expect(files()).toEqual([]);
  });

  test.each(['b'.repeat(70), '"a b: c"', "it's-(1)+2,3.4/5:6=7?8"])(
    'the boundary %s is one',
    async (boundary) => {
      const { upload } = await serveFeedback();
      const { body, headers } = formWith(boundary);
      expect((await upload(body, headers)).status).toBe(200);
    },
  );

  test('no multipart is 415', async () => {
    const { upload } = await serveFeedback();
    expect((await upload('{}', { 'content-type': 'application/json' })).status).toBe(415);
  });

  test.each(['gzip', 'deflate', 'br'])('a form that is %s is 415', async (encoding) => {
    const { upload, files } = await serveFeedback();
    const answer = await upload(gzipSync(formWith('b').body), { ...multipart, 'content-encoding': encoding });
    expect(answer.headers.get('accept-encoding')).toBe('identity');
    expect(await errorOf(answer)).toEqual([415, 'unsupported_media_type', ['headers/content-encoding']]);
    expect(files()).toEqual([]);
    const plain = await upload(formOf('d', zip), { 'content-encoding': 'identity' });
    expect(plain.status).toBe(200);
  });
});

describe('too large', () => {
  const large = () => formOf('d', new Uint8Array(60 * MiB));

  test('one that says so is 413 before it is read, and the connection is closed', async () => {
    const { upload, files } = await serveFeedback();
    const answer = await upload(large());
    expect(answer.headers.get('connection')).toBe('close');
    expect(await errorOf(answer)).toEqual([413, 'payload_too_large', undefined]);
    expect(files()).toEqual([]);
  });

  test('one that does not say so is 413 where the bound is passed', async () => {
    const { url, files } = await serveFeedback();
    const head = '--b\r\nContent-Disposition: form-data; name="bundle"; filename="b.zip"\r\n\r\n';
    let sent = 0;
    async function* chunks() {
      yield Buffer.from(head);
      for (; sent < 200; sent++) yield Buffer.alloc(MiB);
    }
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer access', 'content-type': 'multipart/form-data; boundary=b' },
      body: ReadableStream.from(chunks()),
      duplex: 'half',
    });
    expect(await errorOf(answer)).toEqual([413, 'payload_too_large', undefined]);
    expect(files()).toEqual([]);
  });

  test('exactly 50 MiB are not', async () => {
    const { upload } = await serveFeedback();
    const overhead = zipOf({ name: 'a' }).length;
    const exact = zipOf({ name: 'a', content: Buffer.alloc(50 * MiB - overhead) });
    expect(exact.length).toBe(50 * MiB);
    expect((await upload(formOf('d', exact))).status).toBe(200);
    expect((await upload(formOf('d', Buffer.concat([exact, Buffer.alloc(1)])))).status).toBe(413);
  });

  test('whoever waits for 100 Continue sends nothing of what is refused', async () => {
    const { port } = await serveFeedback();
    const ask = async (more: string) => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\nExpect: 100-continue\r\n` +
          `Content-Type: multipart/form-data; boundary=b\r\n${more}\r\n\r\n`,
      );
      const [data] = (await once(socket, 'data')) as [Buffer];
      return String(data).split('\r\n', 1)[0];
    };
    expect(await ask('Content-Length: 100000000')).toBe('HTTP/1.1 413 Payload Too Large');
    expect(await ask('Content-Length: 1000')).toBe('HTTP/1.1 100 Continue');
  });
});

describe('who may', () => {
  test('an organization that keeps no data is 403 zdr_org right after the 401, whatever the body is', async () => {
    const { upload, files } = await serveFeedback({ zeroRetention: true });
    expect(await errorOf(await upload(formOf('d', zip)))).toEqual([403, 'zdr_org', undefined]);
    expect(await errorOf(await upload('x', { 'content-type': 'text/plain' }))).toEqual([
      403,
      'zdr_org',
      undefined,
    ]);
    expect(await errorOf(await upload(formOf('d', new Uint8Array(60 * MiB))))).toEqual([
      403,
      'zdr_org',
      undefined,
    ]);
    const nobody = await upload('x', { authorization: 'Bearer unknown' });
    expect(nobody.status).toBe(401);
    expect(files()).toEqual([]);
  });

  test('without the permission is 403', async () => {
    const { upload } = await serveFeedback();
    expect(await errorOf(await upload(formOf('d', zip), { authorization: 'Bearer nothing' }))).toEqual([
      403,
      'forbidden',
      undefined,
    ]);
  });
});

/** An upload whose body does not end. */
async function hang(port: number, sent = 'PK', length = 100_000) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\nContent-Length: ${length}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n` +
      `Content-Disposition: form-data; name="bundle"; filename="b.zip"\r\n\r\n${sent}`,
  );
  return socket;
}

const untilFiles = async (files: () => string[], count: number) => {
  await expect.poll(() => files().length).toBe(count);
};

test('an account has two uploads at a time; what its connection drops is removed, and makes room', async () => {
  const { port, upload, files } = await serveFeedback();
  const sockets = [await hang(port), await hang(port)];
  await untilFiles(files, 2);
  const answer = await upload(formOf('d', zip));
  expect(answer.headers.get('retry-after')).toBe('10');
  expect(await errorOf(answer)).toEqual([429, 'temporarily_unavailable', undefined]);
  for (const socket of sockets) socket.destroy();
  await untilFiles(files, 0);
  expect((await upload(formOf('d', zip))).status).toBe(200);
});

test('one whose sender lost the credential while it came in is 401, and nothing of it is kept', async () => {
  let revoked = false;
  const { url, files, store } = await serveFeedback({ isRevoked: () => revoked });
  const whole = new Response(formOf('d', zip));
  const bytes = Buffer.from(await whole.arrayBuffer());
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer access', 'content-type': whole.headers.get('content-type') ?? '' },
    body: ReadableStream.from(
      (async function* () {
        yield bytes.subarray(0, 200);
        await vi.waitUntil(() => files().length > 0);
        revoked = true;
        yield bytes.subarray(200);
      })(),
    ),
    duplex: 'half',
  });
  expect(await errorOf(answer)).toEqual([401, 'invalid_token', undefined]);
  await vi.waitUntil(() => files().length === 0);
  expect(await store.accountBundles({ accountId: 'account', after: '', limit: 1 })).toEqual([]);
});

test('one that drips in is 408, also where the clock is set back meanwhile', async () => {
  const clock = new ManualClock();
  const { port, files } = await serveFeedback({ clock });
  const socket = await hang(port);
  await untilFiles(files, 1);
  clock.jump(-3600_000);
  const answered = once(socket, 'data') as Promise<[Buffer]>;
  await clock.advance(5000);
  const [data] = await answered;
  expect(String(data)).toContain('HTTP/1.1 408 ');
  expect(String(data)).toMatch(/connection: close/i);
  await untilFiles(files, 0);
});

test.each([
  ['10 KB a second are enough, and less is not', 50_000, 5000, 1000],
  ['a minute is all there is, however fast it was', 700_000, 59_000, 1000],
])('%s', async (_, bytes, longEnough, tooLong) => {
  const clock = new ManualClock();
  const { port, files, bundles } = await serveFeedback({ clock });
  const socket = await hang(port, 'x'.repeat(bytes), bytes + 100_000);
  const heard: string[] = [];
  socket.on('data', (data) => heard.push(String(data)));
  await untilFiles(files, 1);
  const [part = ''] = files();
  await expect.poll(() => statSync(join(bundles, part)).size).toBeGreaterThan(bytes * 0.9);
  await clock.advance(longEnough);
  expect(heard).toEqual([]);
  await clock.advance(tooLong);
  await expect.poll(() => heard.join('')).toContain('HTTP/1.1 408 ');
  await untilFiles(files, 0);
});

test.each(['create', 'write'])(
  'a full disk is 503 with Retry-After, and nothing is left there (%s)',
  async (at) => {
    const full = () =>
      Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    const { upload, files } = await serveFeedback({
      wrap: (real) => ({
        ...real,
        async create(id) {
          if (at === 'create') return full();
          const file = await real.create(id);
          file.handle.writeFile = full;
          return file;
        },
      }),
    });
    const answer = await upload(formOf('d', zip));
    expect(answer.headers.get('retry-after')).toBe('60');
    expect(await errorOf(answer)).toEqual([503, 'store_unavailable', undefined]);
    await untilFiles(files, 0);
  },
);

test('what a crash left is swept at the start, and what is known is kept', async () => {
  const { upload, engine, bundles, files } = await serveFeedback();
  const { feedback_id: id } = (await (await upload(formOf('d', zip))).json()) as { feedback_id: string };
  mkdirSync(join(bundles, 'tmp'), { recursive: true });
  writeFileSync(join(bundles, 'tmp', 'fb_part'), 'x');
  writeFileSync(join(bundles, 'fb_unknown.zip'), 'x');
  await engine.start();
  expect(files()).toEqual([`${id}.zip`]);
});

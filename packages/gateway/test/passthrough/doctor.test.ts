import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { adviceOn, checkUpstreams } from '../../src/admin/doctor-upstreams.ts';
import { loadConfig } from '../../src/config/load.ts';
import { findingsOf } from './findings.ts';
import { answer, rawUpstream } from './raw-upstream.ts';

const local = { 'areas.oauth': 'local', 'areas.devices': 'local' };

/** What is found at one upstream. */
async function findingsAt(upstream: string, flags: Readonly<Record<string, unknown>> = {}) {
  const found = await findingsOf({ upstream, ...flags });
  return found.map(([name, ...rest]) => [
    name.replace(`upstream ${new URL(upstream).origin}: `, ''),
    ...rest,
  ]);
}

const upstreamThat = (replies: { credential?: string; discovery?: string; upgrade?: string }) =>
  rawUpstream((socket, head) => {
    const { discovery = answer('{"issuer":"https://api.example"}') } = replies;
    const refusal = answer('', { status: '401 Unauthorized', headers: 'sec-websocket-version: 13\r\n' });
    if (head.includes('oauth-authorization-server')) socket.write(discovery);
    else if (/upgrade: websocket/i.test(head)) socket.write(replies.upgrade ?? refusal);
    else if (head.startsWith('GET /v1/models')) socket.write(replies.credential ?? answer('[]'));
    else socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
  });

describe('doctor', () => {
  test('asks an upstream step by step', async () => {
    await using upstream = await upstreamThat({});
    expect(await findingsAt(upstream.url)).toEqual([
      ['name', true, '127.0.0.1'],
      ['answer', true, 'HTTP 404'],
      ['discovery', true, 'issuer https://api.example'],
      ['WebSocket', true, 'upgrades come through'],
    ]);
  });

  test('reads no more of an answer than it needs', async () => {
    await using upstream = await rawUpstream((socket, head) => {
      if (!head.includes('oauth-authorization-server')) return socket.end(answer(''));
      socket.write('HTTP/1.1 200 OK\r\n\r\n{"issuer":"https://api.example"}');
      const more = () => {
        while (socket.writable && socket.write(' '.repeat(16 * 1024)));
        socket.once('drain', more);
      };
      return more();
    });
    expect((await findingsAt(upstream.url))[2]).toEqual(['discovery', true, 'issuer https://api.example']);
  });

  test('shows it the credential that is not the callers’', async () => {
    await using upstream = await upstreamThat({});
    const flags = { ...local, 'upstream.credential': 'sk-team', 'upstream.credentialHeader': 'x-api-key' };
    expect((await findingsAt(upstream.url, flags))[2]).toEqual(['credential', true, 'is not refused (200)']);
    expect(upstream.heads.find((head) => head.startsWith('GET /v1/models'))).toContain('x-api-key: sk-team');
  });

  test('asks for what goes there, until an answer tells', async () => {
    let served = '/v1/environments';
    const asked: string[] = [];
    // As a Sallyport behind would: the families are nobody's there.
    await using upstream = await rawUpstream((socket, head) => {
      const [, path = ''] = /^GET (\/v1\S+)/.exec(head) ?? [];
      asked.push(path);
      const isServed =
        path === served && /\r\nvendor-beta: managed-agents[^]*authorization: Bearer sk-team/.test(head);
      socket.write(answer('', { status: isServed ? '200 OK' : '501 Not Implemented' }));
    });
    const credential = async () =>
      (await findingsAt(upstream.url, { ...local, 'upstream.credential': 'sk-team' }))[2];
    expect(await credential()).toEqual(['credential', true, 'is not refused (200)']);
    expect(asked).toEqual(
      expect.arrayContaining(['/v1/models', '/v1/files', '/v1/sessions', '/v1/environments']),
    );
    served = 'nothing';
    expect(await credential()).toEqual([
      'credential',
      'warns',
      `${upstream.url} has none of what it was asked for (501), so nobody knows whether it takes the credential: if calls fail, correct upstream.url`,
    ]);
  });

  test.each([
    ['asks for a credential, and is shown none', '401 No', 'none', /set upstream\.credential\.$/],
    [
      'fails',
      '503 Service Unavailable',
      'sk-team',
      /fails when it is asked \(503\): see to what serves it\.$/,
    ],
  ])('says so of an upstream that %s', async (_name, status, credential, says) => {
    await using upstream = await upstreamThat({ credential: answer('', { status }) });
    const findings = await findingsAt(upstream.url, { ...local, 'upstream.credential': credential });
    expect(findings.at(-1)?.slice(1)).toEqual([false, expect.stringMatching(says)]);
  });

  test.each([
    [
      'none',
      false,
      /is shown none: set upstreams\.models\.forwardCredentials, if callers' own are good there\.$/,
    ],
    ["the callers' own", true, /^answers \(401\)$/],
  ])('knows that an upstream of an area’s own is shown %s', async (_name, forwardCredentials, says) => {
    await using upstream = await upstreamThat({});
    await using own = await upstreamThat({ credential: answer('', { status: '401 No' }) });
    const upstreams = JSON.stringify({ models: { url: own.url, forwardCredentials } });
    const found = await findingsOf({ upstream: upstream.url, upstreams });
    expect(found.filter(([name]) => name.includes(own.url)).at(-1)).toEqual([
      `upstream ${own.url}: service`,
      forwardCredentials,
      expect.stringMatching(says),
    ]);
  });

  test('warns of bridges whose device tokens the upstream would never see', () => {
    const advice = (flags: object) =>
      adviceOn(loadConfig({ env: {}, flags: { upstream: 'https://api.example', ...flags } }).config);
    const split = { ...local, 'upstream.credential': 'none' };
    expect(advice(split)).toMatch(/areas\.devices are local, but areas\.bridge is upstream/);
    expect(advice({})).toBeUndefined();
    const here = ['bridge', 'sessions', 'worker', 'environments'].map((name) => [`areas.${name}`, 'local']);
    expect(advice({ ...split, ...(Object.fromEntries(here) as object) })).toBeUndefined();
  });

  test('says how to make the login of its own that it lacks', async () => {
    await using upstream = await upstreamThat({});
    const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-doctor-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const findings = await findingsAt(upstream.url, { ...local, dataDir, 'upstream.login': true });
    expect(findings.at(-1)).toEqual([
      'credential',
      false,
      `There is no login at ${upstream.url}, or it has run out: make one with \`sallyport-gateway admin upstream login --config g.yaml\`.`,
    ]);
  });

  test.each<[string, Parameters<typeof upstreamThat>[0], Record<string, unknown>, RegExp]>([
    [
      'refuses the credential',
      { credential: answer('', { status: '401 No' }) },
      { ...local, 'upstream.credential': 'sk-team' },
      /set upstream\.credential to one that it knows\.$/,
    ],
    [
      'has no OAuth metadata',
      { discovery: answer('<html>') },
      {},
      /set areas\.oauth and areas\.devices to local/,
    ],
    [
      'has something before it that breaks WebSockets',
      { upgrade: answer('', { status: '502 Bad Gateway' }) },
      {},
      /pass on Upgrade and Connection\.$/,
    ],
  ])('says what to do where an upstream %s, and no secret', async (_name, replies, flags, says) => {
    await using upstream = await upstreamThat(replies);
    const findings = await findingsAt(upstream.url, flags);
    const [, ok, said] = findings.at(-1) ?? [];
    expect([ok, said]).toEqual([false, expect.stringMatching(says)]);
    expect(JSON.stringify(findings)).not.toContain('sk-team');
  });

  test.each([
    ['that nobody listens at', 'http://127.0.0.1:1', 'answer', /connection refused\.$/],
    ['whose name nobody knows', 'http://nowhere.invalid', 'name', /nowhere\.invalid has no address/],
  ])('says so of an address %s', async (_name, url, step, says) => {
    const findings = await findingsAt(url);
    expect(findings.at(-1)).toEqual([step, false, expect.stringMatching(says)]);
  });

  test('says so where https meets a server without it', async () => {
    const server = createServer((socket) =>
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect((await findingsAt(`https://127.0.0.1:${port}`)).at(-1)).toEqual([
      'answer',
      false,
      expect.stringContaining(`does not speak TLS; is it http://127.0.0.1:${port}?`),
    ]);
    server.close();
  });

  test('has nothing to ask where everything is here', async () => {
    const { config } = loadConfig({ env: {}, flags: {} });
    await checkUpstreams(config, () => Promise.reject(new Error('asked')));
  });
});

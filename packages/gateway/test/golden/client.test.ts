import { createClient, undiciTransport, type Client } from '@sallyport/core/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRecorder, type Recorder } from './recorder.ts';
import { byName, readTranscripts, toBytes, type Message } from './transcript.ts';

const clientId = '5a117f0a-0c11-4e47-8a00-000000000001';
const runner = { 'x-environment-runner-version': '1.4.0' };
const params = { env_id: 'environment_id', work_id: 'work_id' };
const place = { machine_name: 'laptop', directory: '/src/app', metadata: { os: 'linux', arch: 'arm64' } };
const managed = { machine_name: 'runner', directory: '/srv', metadata: { os: 'linux' } };
const record = {
  timeUnixNano: '1767225600000000000',
  observedTimeUnixNano: '1767225600000000000',
  severityNumber: 9,
  severityText: 'info',
  body: { stringValue: 'started' },
  attributes: [{ key: 'os', value: { stringValue: 'linux' } }],
};

/** The calls that make the transcripts' requests, by the transcript's name without its number. */
const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  discovery: (client) => client.oauth.discovery(),
  bootstrap: (client) => client.account.bootstrap(),
  authorize: (client) =>
    client.oauth.authorize({
      bearer: 'session_key',
      params: { org_uuid: 'org_uuid' },
      body: {
        response_type: 'code',
        client_id: clientId,
        organization_uuid: 'org_uuid',
        redirect_uri: 'http://127.0.0.1:1455/callback',
        scope: 'openid profile email vendor_api',
        state: 'st4te',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      },
    }),
  token: (client) =>
    client.oauth.token({
      body: {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: 'code',
        code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
        redirect_uri: 'http://127.0.0.1:1455/callback',
      },
    }),
  refresh: (client) =>
    client.oauth.token({
      body: {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: 'first_refresh_token',
        scope: 'profile vendor_api',
      },
    }),
  'device-authorization': (client) =>
    client.oauth.deviceAuthorization({ body: { client_id: clientId, scope: 'vendor_api' } }),
  profile: (client) => client.oauth.profile(),
  'trusted-device': (client) => client.devices.trust({ body: { display_name: 'Work laptop' } }),
  register: (client) =>
    client.bridge.register({
      headers: { ...runner, 'vendor-worker-id': 'worker-1', 'x-trusted-device-token': 'device_token' },
      body: place,
    }),
  'poll-without-work': (client) => client.bridge.poll({ params }),
  session: (client) =>
    client.sessions.create({
      headers: { ...runner, 'vendor-client-feature': 'ccr', 'x-organization-uuid': 'org_uuid' },
      body: {
        title: 'Fix the build',
        events: [{ type: 'session.message', data: { text: 'go' } }],
        environment_id: 'environment_id',
        session_context: { sources: [] },
        tags: ['ci'],
      },
    }),
  poll: (client) => client.bridge.poll({ params }),
  ack: (client) => client.bridge.ack({ params }),
  'handshake-1': (client) => client.worker.bridge({ params: { id: 'session_id' } }),
  'handshake-2': (client) => client.worker.register({ params: { id: 'session_id' }, bearer: 'worker_jwt' }),
  stop: (client) => client.bridge.stop({ params, body: { force: true } }),
  'organization-environments': (client) =>
    client.bridge.list({
      params: { org_uuid: 'org_uuid' },
      query: { limit: 100, included_worker_types: 'cowork' },
    }),
  unregister: (client) => client.bridge.unregister({ params: { environment_id: 'environment_id' } }),
  batch: (client) =>
    client.telemetry.batch({ headers: { 'x-service-name': 'agent_desktop' }, body: { events: [record] } }),
  'create-api-key': (client) => client.oauth.createApiKey(),
  roles: (client) => client.oauth.roles(),
  'environment-create': (client) => client.environments.create({ body: managed }),
  'environment-list': (client) => client.environments.list({ query: { limit: 50, name: 'run' } }),
  'environment-get': (client) => client.environments.get({ params: { env_id: 'managed_id' } }),
  'environment-update': (client) =>
    client.environments.update({ params: { env_id: 'managed_id' }, body: managed }),
  'environment-archive': (client) => client.environments.archive({ params: { env_id: 'managed_id' } }),
  'environment-delete': (client) => client.environments.delete({ params: { env_id: 'managed_id' } }),
  access: (client) => client.account.access({ params: { org_id: 'org_uuid' } }),
  settings: (client) => client.account.settings(),
  unlock: (client) => client.admin.unlockPerson({ params: { account_id: 'account_uuid' } }),
  logs: (client) =>
    client.telemetry.logs({
      headers: { 'idempotency-key': 'a8c1' },
      body: {
        resourceLogs: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'ci' } }] },
            scopeLogs: [
              {
                scope: { name: 'build' },
                logRecords: [
                  {
                    timeUnixNano: '1767225600000000000',
                    severityNumber: 9,
                    severityText: 'info',
                    body: { stringValue: 'started' },
                  },
                ],
              },
            ],
          },
        ],
      },
    }),
};

/** What the client sends beyond a plain one. */
const extraHeaders: Readonly<Record<string, RegExp>> = {
  accept: /^(text\/plain, )?application\/json$/,
  connection: /^keep-alive$/,
  'request-id': /^req_\w{26}$/,
  'user-agent': /^sallyport-test$/,
};

const transport = undiciTransport({ proxyFromEnvironment: false });
let recorder: Recorder;
let client: Client;
/** A value is called what it is: `<access_token>` is `access_token`. */
let sample: (name: string, kind?: string) => string;

beforeAll(async () => {
  recorder = await openRecorder();
  const host = `127.0.0.1:${recorder.port}`;
  const own: Readonly<Record<string, string>> = { host, url: `http://${host}` };
  sample = (name, kind) => (kind === 'number' ? '1' : (own[name] ?? name));
  client = createClient({
    baseUrl: `http://${host}`,
    transport,
    tokens: { token: () => Promise.resolve('access_token') },
    headers: { 'user-agent': 'sallyport-test' },
  });
});
afterAll(async () => {
  await transport.close();
  await recorder[Symbol.asyncDispose]();
});

const transcripts = new Map(readTranscripts().map((one) => [one.name.replace(/^\d+-/, ''), one]));
const noAnswer: Message = { head: ['HTTP/1.1 200 OK', 'Content-Length: <length>'], body: '{}' };

test.each(Object.entries(calls))('%s', async (name, call) => {
  const { request, answer = noAnswer } = transcripts.get(name)!;
  recorder.answer = toBytes(answer, sample);
  const result = await call(client);
  const [, answered = ''] = recorder.answer.split('\r\n\r\n');
  const isText = answer.head.some((line) => line.startsWith('Content-Type: text/plain'));
  expect(result).toEqual(isText ? answered : answered === '' ? undefined : JSON.parse(answered));

  const [head = '', sentBody] = recorder.request.split('\r\n\r\n');
  const [expectedHead = '', expectedBody] = toBytes(request, sample).split('\r\n\r\n');
  const [line, ...headers] = head.split('\r\n');
  const [expectedLine, ...expectedHeaders] = expectedHead.split('\r\n');
  // RFC 9110 8.6: a POST without a body says so.
  if (line?.startsWith('POST') === true && expectedBody === '') expectedHeaders.push('content-length: 0');
  // The token of whoever has one goes with a call that may have it.
  if (name === 'bootstrap') expectedHeaders.push('authorization: Bearer access_token');
  expect(line).toBe(expectedLine);
  expect(sentBody).toBe(expectedBody);
  const extra = byName(headers).filter(([header]) => extraHeaders[header] !== undefined);
  expect(byName(headers).filter((header) => !extra.some(([other]) => other === header[0]))).toEqual(
    byName(expectedHeaders),
  );
  for (const [header, value] of extra) expect(value).toMatch(extraHeaders[header]!);
});

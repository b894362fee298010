import { randomUUID } from 'node:crypto';
import type { Row } from '@sallyport/core/contract';
import type { things } from './things.ts';
import type { Person, Sent } from './world.ts';

/** The status of an answer; `blind`: a success that shows nothing of the holder's; `-`: the party cannot have the credential. */
export type Outcome = number | 'blind' | '-';

export interface Right {
  /** What the holder has that the row acts on. */
  readonly on: keyof typeof things;
  /** For holder, admin, colleague, viewer, foreign: see `parties`. */
  readonly who: readonly [Outcome, Outcome, Outcome, Outcome, Outcome];
  readonly send?: (params: Readonly<Record<string, string>>, caller: Person) => Sent;
}

/** For everybody, with or without a credential: what it shows is nobody's. */
const open = 'open';

const runner = { 'x-environment-runner-version': '1', 'vendor-worker-id': 'w' };
const record = '{"timeUnixNano":"1767225600000000000","body":{"stringValue":"x"}}';

/**
 * Who may do what, by row of the contract (docs/administration.md): a row that is not here
 * does not compile, and fails the walk.
 */
export const rights: Readonly<Record<Row['id'], Right | typeof open>> = {
  'oauth.token': open,
  'oauth.authorizePage': open,
  'oauth.deviceAuthorization': open,
  'oauth.revoke': open,
  'oauth.discovery': open,
  'oauth.openidConfiguration': open,
  'oauth.jwks': open,
  'oauth.authorize': {
    on: 'organization',
    who: [200, 200, 200, 200, 403],
    send: ({ org_uuid: id = '' }) => ({ body: authorization(id) }),
  },
  'oauth.introspect': {
    on: 'login',
    who: [200, 200, 200, 200, 'blind'],
    send: ({ token }) => ({ body: { token } }),
  },
  'oauth.profile': { on: 'nothing', who: [200, 200, 200, 200, 'blind'] },
  'oauth.createApiKey': { on: 'nothing', who: [200, 200, 200, 200, 200], send: () => ({ body: {} }) },
  'oauth.listApiKeys': { on: 'apiKey', who: [200, 'blind', 'blind', 'blind', 'blind'] },
  'oauth.revokeApiKey': { on: 'apiKey', who: [200, 404, 404, 404, 404] },
  'oauth.roles': { on: 'nothing', who: [200, 200, 200, 200, 200] },

  'devices.trust': {
    on: 'nothing',
    who: [200, 200, 200, 200, 200],
    send: () => ({ body: { display_name: 'laptop' } }),
  },
  'devices.list': { on: 'trustedDevice', who: [200, 'blind', 'blind', 'blind', 'blind'] },
  'devices.revoke': { on: 'trustedDevice', who: [200, 404, 404, 404, 404] },

  // Who asks for an id that is another account's gets one of its own.
  'bridge.register': {
    on: 'environment',
    who: [409, 'blind', 'blind', 403, 'blind'],
    send: ({ env_id }, { deviceToken }) => ({
      headers: { ...runner, 'x-trusted-device-token': deviceToken },
      body: { machine_name: 'm', directory: '/d', environment_id: env_id },
    }),
  },
  'bridge.poll': { on: 'environment', who: [200, 200, 403, 403, 404] },
  'bridge.ack': { on: 'fetchedWork', who: [200, 200, 403, 403, 404] },
  'bridge.stop': {
    on: 'runningWork',
    who: [200, 200, 403, 403, 404],
    send: () => ({ body: { force: false } }),
  },
  'bridge.unregister': { on: 'environment', who: [200, 200, 403, 403, 404] },
  'bridge.reconnect': {
    on: 'runningWork',
    who: [200, 200, 403, 403, 404],
    send: ({ id }) => ({ headers: runner, body: { session_id: id } }),
  },
  'bridge.disconnect': {
    on: 'environment',
    who: [200, 200, 403, 403, 404],
    send: () => ({ headers: runner }),
  },
  'bridge.ws': { on: 'environment', who: [101, 101, 403, 403, 404] },
  'bridge.list': { on: 'environment', who: [200, 200, 200, 200, 404] },

  'sessions.create': {
    on: 'environment',
    who: [200, 200, 200, 403, 404],
    send: ({ env_id }, { organizationId }) => ({
      headers: { ...runner, 'vendor-client-feature': 'ccr', 'x-organization-uuid': organizationId },
      body: { environment_id: env_id },
    }),
  },
  'sessions.list': { on: 'session', who: [200, 200, 200, 200, 'blind'] },
  'sessions.get': { on: 'session', who: [200, 200, 200, 200, 404] },
  'sessions.delete': { on: 'session', who: [200, 200, 403, 403, 404] },
  'sessions.append': {
    on: 'session',
    who: [200, 200, 200, 403, 404],
    send: () => ({ body: { events: [{ id: 'e1', type: 'session.message', data: {} }] } }),
  },
  'sessions.stream': { on: 'session', who: [200, 200, 200, 200, 404], send: () => ({ query: '?beta=true' }) },

  'worker.bridge': { on: 'runningWork', who: [200, 200, 403, 403, 404] },
  'worker.register': { on: 'worker', who: [200, 404, 404, '-', 404] },
  'worker.stream': {
    on: 'worker',
    who: [101, 404, 404, '-', 404],
    send: () => ({ headers: { 'vendor-version': '2023-06-01' } }),
  },
  'worker.events': { on: 'worker', who: [200, 404, 404, '-', 404], send: () => ({ body: { events: [] } }) },

  'environments.create': {
    on: 'nothing',
    who: [201, 201, 201, 403, 201],
    send: () => ({ body: { machine_name: 'm', directory: '/d' } }),
  },
  'environments.list': { on: 'managedEnvironment', who: [200, 200, 200, 200, 'blind'] },
  'environments.get': { on: 'managedEnvironment', who: [200, 200, 200, 200, 404] },
  'environments.update': {
    on: 'managedEnvironment',
    who: [200, 200, 403, 403, 404],
    send: () => ({ body: { directory: '/new' } }),
  },
  'environments.delete': { on: 'managedEnvironment', who: [200, 200, 403, 403, 404] },
  'environments.archive': { on: 'managedEnvironment', who: [200, 200, 403, 403, 404] },

  'telemetry.batch': {
    on: 'nothing',
    who: [200, 200, 200, 200, 200],
    send: () => ({ headers: { 'x-service-name': 's' }, body: { events: [JSON.parse(record) as object] } }),
  },
  'telemetry.logs': {
    on: 'nothing',
    who: [200, 200, 200, 200, 200],
    send: () => ({
      body: { resourceLogs: [{ scopeLogs: [{ logRecords: [JSON.parse(record) as object] }] }] },
    }),
  },
  'telemetry.query': { on: 'logRecord', who: [200, 200, 'blind', 'blind', 'blind'] },
  'telemetry.tail': { on: 'logRecord', who: [200, 200, 200, 200, 200] },
  'telemetry.stats': { on: 'logRecord', who: [200, 200, 'blind', 'blind', 'blind'] },
  // A form without its parts: who may upload at all.
  'feedback.bundle': {
    on: 'nothing',
    who: [400, 400, 400, 400, 400],
    send: () => ({ headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: '--b--\r\n' }),
  },

  'account.bootstrap': { on: 'nothing', who: [200, 200, 200, 200, 'blind'] },
  'account.access': { on: 'organization', who: [200, 200, 200, 200, 403] },
  'account.settings': { on: 'nothing', who: [200, 200, 200, 200, 204] },

  'admin.listPeople': { on: 'nothing', who: [403, 200, 403, 403, 'blind'] },
  'admin.addPerson': {
    on: 'nothing',
    who: [403, 201, 403, 403, 201],
    send: () => ({ body: { email: `${randomUUID()}@example.com` } }),
  },
  'admin.changeRole': {
    on: 'colleague',
    who: [403, 200, 403, 403, 404],
    send: () => ({ body: { role: 'viewer' } }),
  },
  'admin.unlockPerson': { on: 'colleague', who: [403, 200, 403, 403, 404] },
  'admin.removePerson': { on: 'colleague', who: [403, 200, 403, 403, 404] },
  'admin.listRoles': { on: 'nothing', who: [403, 200, 403, 403, 200] },
  'admin.listApiKeys': { on: 'apiKey', who: [403, 200, 403, 403, 'blind'] },
  'admin.revokeApiKey': { on: 'apiKey', who: [403, 200, 403, 403, 404] },
  'admin.listDevices': { on: 'trustedDevice', who: [403, 200, 403, 403, 'blind'] },
  'admin.revokeDevice': { on: 'trustedDevice', who: [403, 200, 403, 403, 404] },
  'admin.listLogins': { on: 'listedLogin', who: [403, 200, 403, 403, 'blind'] },
  'admin.revokeLogin': { on: 'listedLogin', who: [403, 200, 403, 403, 404] },
  'admin.listSignIns': { on: 'signIn', who: [403, 200, 403, 403, 'blind'] },
  'admin.endSignIn': { on: 'signIn', who: [403, 200, 403, 403, 404] },
  // Clients are the installation's: only its first organization, which is none of these, adds and removes them.
  'admin.listClients': { on: 'nothing', who: [403, 200, 403, 403, 200] },
  'admin.addClient': {
    on: 'nothing',
    who: [403, 403, 403, 403, 403],
    send: () => ({ body: { client_name: 'c', redirect_uris: ['http://127.0.0.1/callback'] } }),
  },
  'admin.removeClient': { on: 'nothing', who: [403, 403, 403, 403, 403] },
  'admin.listSettings': { on: 'setting', who: [403, 200, 403, 403, 'blind'] },
  'admin.setSetting': {
    on: 'setting',
    who: [403, 200, 403, 403, 200],
    send: () => ({ body: { value: 1 } }),
  },
  'admin.unsetSetting': { on: 'setting', who: [403, 200, 403, 403, 404] },
  'admin.listAudit': { on: 'signIn', who: [403, 200, 403, 403, 'blind'] },
};

function authorization(organizationId: string): object {
  return {
    response_type: 'code',
    client_id: '5a117f0a-0c11-4e47-8a00-000000000001',
    organization_uuid: organizationId,
    redirect_uri: 'http://127.0.0.1:1/callback',
    state: 's',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  };
}

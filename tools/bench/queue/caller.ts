import type { BenchLogin } from '../gateway.ts';
import { openRawHttp } from '../raw-http.ts';

/** The calls of a bridge and of who gives it work, as bare HTTP: a client's own work would be measured too. */
export async function openCaller({
  url,
  logins: [login],
}: {
  readonly url: string;
  readonly logins: readonly BenchLogin[];
}) {
  const { accessToken = '', organizationId = '' } = login ?? {};
  const http = openRawHttp(Number(new URL(url).port));
  const authorization = `Bearer ${accessToken}`;
  const runner = { 'x-environment-runner-version': '1.0.0' };

  async function call(method: 'GET' | 'POST', path: string, headers: object = {}, body?: object) {
    const text = body && JSON.stringify(body);
    const sent = {
      host: 'bench',
      authorization,
      ...headers,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'content-length': text?.length ?? 0 }),
    };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    return http.exchange(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text ?? ''}`);
  }
  const json = async <T>(...args: Parameters<typeof call>) => JSON.parse(await call(...args)) as T;

  const device = await call('POST', '/api/auth/trusted_devices', {}, { display_name: 'bench' });
  return {
    authorization,
    close: () => http.close(),

    /** Gives the environment's id. */
    async register(worker: string): Promise<string> {
      const headers = { ...runner, 'vendor-worker-id': worker, 'x-trusted-device-token': device };
      const body = { machine_name: worker, directory: '/src' };
      const path = '/v1/environments/bridge';
      return (await json<{ environment_id: string }>('POST', path, headers, body)).environment_id;
    },

    session(environmentId: string): Promise<{ readonly id: string }> {
      const headers = {
        ...runner,
        'vendor-client-feature': 'ccr',
        'vendor-beta': 'ccr-byoc-2025-07-29',
        'x-organization-uuid': organizationId,
      };
      return json('POST', '/v1/sessions', headers, { environment_id: environmentId, title: '/src' });
    },

    poll: (environmentId: string, blockMs: number): Promise<{ readonly id: string } | null> =>
      json('GET', `/v1/environments/${environmentId}/work/poll?block_ms=${blockMs}`),

    ack: (environmentId: string, workId: string) =>
      call('POST', `/v1/environments/${environmentId}/work/${workId}/ack`),

    /** The worker's token: step 1 of its handshake. */
    async takeOver(sessionId: string): Promise<string> {
      const path = `/v1/code/sessions/${sessionId}/bridge`;
      return (await json<{ worker_jwt: string }>('POST', path, {}, {})).worker_jwt;
    },
  };
}

export type Caller = Awaited<ReturnType<typeof openCaller>>;

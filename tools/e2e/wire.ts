import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, undiciTransport, type ClientOptions } from '@sallyport/core/client';
import type { Installation } from './installation.ts';

/** The endpoints by hand, as the person who is logged in: for what no command does. */
export async function openWire({ folder, baseUrl }: Installation) {
  const file = join(folder, 'config/state/logins', `${encodeURIComponent(baseUrl)}.json`);
  const login = JSON.parse(readFileSync(file, 'utf8')) as { accessToken: string; organizationId: string };
  const transport = undiciTransport();
  const tokens = { token: () => Promise.resolve(login.accessToken) };
  const options: ClientOptions = { baseUrl, transport, tokens };
  const client = createClient(options);
  const deviceToken = await client.devices.trust({ body: { display_name: 'laptop' } });
  const runner = { 'x-environment-runner-version': '1.0.0' };

  return {
    client,
    options,
    bearer: `Authorization: Bearer ${login.accessToken}`,

    /** Gives the environment's id. */
    async register(name: string): Promise<string> {
      const { environment_id: id } = await client.bridge.register({
        headers: { ...runner, 'vendor-worker-id': name, 'x-trusted-device-token': deviceToken },
        body: { machine_name: 'laptop', directory: `/${name}` },
      });
      return id;
    },

    /** A session with one event. */
    session: (environmentId: string) =>
      client.sessions.create({
        headers: {
          ...runner,
          'vendor-client-feature': 'ccr',
          'x-organization-uuid': login.organizationId,
        },
        body: { environment_id: environmentId, events: [note('first')] as never },
      }),

    append: (id: string, text: string) =>
      client.sessions.append({ params: { id }, body: { events: [note(text)] as never } }),

    /** A session whose work is taken; its worker's token. */
    async worker(environmentId: string): Promise<{ readonly id: string; readonly token: string }> {
      const { id, work_id } = await this.session(environmentId);
      const params = { env_id: environmentId };
      await client.bridge.poll({ params });
      await client.bridge.ack({ params: { ...params, work_id } });
      const { worker_jwt: token } = await client.worker.bridge({ params: { id } });
      await client.worker.register({ params: { id }, bearer: token });
      return { id, token };
    },

    close: () => transport.close(),
  };
}

export type Wire = Awaited<ReturnType<typeof openWire>>;

const note = (text: string) => ({ id: text, type: 'note', data: { text } });

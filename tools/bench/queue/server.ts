// A gateway, or what HTTP alone costs: `server.ts [bare]`. Its first line is JSON: where it is, and a login.
import { startBenchGateway } from '../gateway.ts';

console.log(JSON.stringify(await (process.argv[2] === 'bare' ? bare() : startBenchGateway({}, 1))));

/** The same calls on a bare Fastify that checks nobody and keeps its items in memory. */
async function bare() {
  const { default: fastify } = await import('fastify');
  const app = fastify();
  const lines = new Map<string, { items: object[]; waiting: ((item: object) => void)[] }>();
  const line = (id: string) => {
    const known = lines.get(id) ?? { items: [], waiting: [] };
    lines.set(id, known);
    return known;
  };
  let last = 0;
  app.post('/api/auth/trusted_devices', async () => 'device');
  app.post('/v1/environments/bridge', async () => ({ environment_id: `env_${++last}` }));
  app.post('/v1/sessions', async ({ body }) => {
    const { environment_id: environmentId } = body as { environment_id: string };
    const id = `${++last}`;
    const item = { id, data: { type: 'session', id } };
    const { items, waiting } = line(environmentId);
    const wake = waiting.shift();
    if (wake) wake(item);
    else items.push(item);
    return { id, environment_id: environmentId, work_id: id, status: 'queued' };
  });
  app.get('/v1/environments/:id/work/poll', ({ params }) => {
    const { items, waiting } = line((params as { id: string }).id);
    return items.shift() ?? new Promise<object>((resolve) => waiting.push(resolve));
  });
  app.post('/v1/environments/:id/work/:work/ack', async ({ params }) => ({
    id: (params as { work: string }).work,
    state: 'active',
  }));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url, logins: [] };
}

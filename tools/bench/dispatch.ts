// How long a session takes to its first output, beside its bare command: `node -C @sallyport/source tools/bench/dispatch.ts`.
// From before `POST /v1/sessions` leaves the client (so a little more than from its receipt) to the first byte of output on
// the session's event stream, with the built gateway, the built bridge and a real login. Prints a Markdown table.
import { spawn } from 'node:child_process';
import { createClient, streamSession, undiciTransport, type ClientOptions } from '@sallyport/core/client';
import { fileTokenStore, TokenProvider } from '@sallyport/oauth';
import { Installation } from '../e2e/installation.ts';
import { median, printTable, sideBySide, type Way } from './timing.ts';

const rounds = Number(process.argv[2] ?? 20);
const command = 'echo one';
/** What the service may add to the command itself. */
const boundMs = 150;

await using installation = new Installation();
await installation.gateway();
await installation.login();
const bridge = installation.sallyport(['bridge', 'run', '--exec', command]);
await bridge.shows(/Waiting for work/);

const { baseUrl } = installation;
const transport = undiciTransport();
const store = fileTokenStore({ directory: `${installation.folder}/config/state/logins` });
const tokens = new TokenProvider({ transport, store, key: baseUrl });
const options: ClientOptions = { baseUrl, transport, tokens };
const client = createClient(options);
const { account } = await client.account.bootstrap();
const organizationId = account.memberships[0]?.organization.uuid ?? '';
const { environments } = await client.bridge.list({ params: { org_uuid: organizationId } });
const environmentId = environments[0]?.environment_id ?? '';

async function throughSession(): Promise<number> {
  const from = performance.now();
  const { id } = await client.sessions.create({
    headers: {
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': organizationId,
      'x-environment-runner-version': 'bench',
    },
    body: { environment_id: environmentId },
  });
  let first = NaN;
  for await (const frame of streamSession(options, id)) {
    if (frame.kind !== 'event') continue;
    if (frame.event.type === 'session.output' && Number.isNaN(first)) first = performance.now() - from;
    if (frame.event.type === 'worker.exited') break; // so that the next round has the bridge to itself
  }
  return first;
}

function bare(): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', () => resolve(performance.now() - from));
    child.once('error', reject);
  });
}

const ways: readonly Way[] = [
  { name: `bare \`sh -c '${command}'\``, once: bare },
  { name: 'session, to the first output on its stream', once: throughSession },
];
const samples = await sideBySide(ways, rounds);
printTable(ways, samples);
const [bareMs, sessionMs] = samples.map(median);
if (Number(sessionMs) - Number(bareMs) >= boundMs) {
  console.error(`A session takes ${boundMs} ms or more beyond its command.`);
  process.exitCode = 1;
}
await transport.close();

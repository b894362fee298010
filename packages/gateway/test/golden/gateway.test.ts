import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway, type Gateway } from '../../src/start.ts';
import { RawConnection } from './connection.ts';
import { expectAnswer, knownIn, readTranscripts, toBytes, type Values } from './transcript.ts';

// The transcripts are one story: each one has values of those before it.
const values: Values = new Map();
let dataDir: string;
let gateway: Gateway;
let connection: RawConnection;
/** A connection that became a WebSocket stays open: its worker is live. */
const streams: RawConnection[] = [];

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'sallyport-golden-'));
  const { config } = loadConfig({ env: {}, flags: { port: 0, dataDir } });
  gateway = await startGateway({
    config: { ...config, rateLimits: { default: 600, 'account.bootstrap': 1 } },
  });
  const { sessionKey } = await withAuthorizationServer({ dataDir }, async ({ accounts, sessions }) =>
    sessions.issue((await accounts.find()).id),
  );
  const { host, port } = new URL(gateway.url);
  values
    .set('host', host)
    .set('url', gateway.url)
    .set('encoded_url', encodeURIComponent(gateway.url))
    .set('session_key', sessionKey);
  connection = new RawConnection(Number(port));
});

afterAll(async () => {
  for (const one of [connection, ...streams]) one[Symbol.dispose]();
  await gateway.close();
  rmSync(dataDir, { recursive: true });
});

const answered = readTranscripts().flatMap(({ name, request, answer }) =>
  answer ? [[name, request, answer] as const] : [],
);

test.each(answered)('%s', async (_, request, answer) => {
  const raw = await connection.exchange(toBytes(request, knownIn(values)));
  if (answer.head[0]?.includes(' 101 ')) {
    streams.push(connection);
    connection = new RawConnection(Number(new URL(gateway.url).port));
  }
  expectAnswer(raw, answer, values);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startChild } from '../../test/child.ts';
import { fakeSecretTool } from '../../test/fake-keychain.ts';
import {
  accessToken,
  refusal,
  startScriptedServer,
  tokens,
  type ScriptedServer,
} from '../../test/scripted-server.ts';
import { fileTokenStore } from '../store/file.ts';
import { systemTokenStore } from '../store/system.ts';

let directory: string;
let server: ScriptedServer;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sallyport-tokens-'));
  server = await startScriptedServer();
});
afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

// aws-cli 10628, opencode 49439, clerk/cli 213: each process spent the refresh token, and all but one were logged out.
test.each([
  ['seven', 'a file', 7, () => []],
  ['three', 'the keychain', 3, () => [join(directory, 'keyring')]],
])(
  '%s processes that share an expired login in %s renew it once, and all get the new token',
  async (_words, _place, count, place) => {
    server.on('/v1/oauth/token', ({ body }) =>
      body['refresh_token'] === 'rt-0' && server.to('/v1/oauth/token').length === 1
        ? { body: tokens(1) }
        : { status: 400, body: refusal('invalid_grant') },
    );
    const [keyring] = place();
    const store =
      keyring === undefined
        ? fileTokenStore({ directory })
        : systemTokenStore({ directory, service: 'my-tool', keychain: fakeSecretTool('working', keyring) });
    await store.save('main', {
      baseUrl: server.baseUrl,
      clientId: 'client-1',
      accessToken: 'at-0',
      refreshToken: 'rt-0',
      expiresAt: 0,
      scope: 'profile',
    });
    const outputs = await Promise.all(
      Array.from({ length: count }, async () => {
        const child = startChild('token-child.ts', directory, ...place());
        const printed: string[] = [];
        child.lines.on('line', (line) => printed.push(line));
        return [await child.exited, ...printed];
      }),
    );
    expect(outputs).toEqual(Array.from({ length: count }, () => [0, accessToken('at-1')]));
    expect(server.to('/v1/oauth/token')).toHaveLength(1);
    expect(await store.load('main')).toMatchObject({ refreshToken: 'rt-1' });
  },
  60_000, // seven programs start, on a machine that may be busy
);

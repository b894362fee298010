import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstPartyClient } from '@sallyport/core/contract';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { browser as browserAt } from './visitor.ts';
import { cheapPasswords } from './open-server.ts';

export const redirectUri = 'http://127.0.0.1:53219/callback';

/** A gateway as it is run, over its embedded store, and its owner's browser, signed in. To be closed. */
export async function runGateway(flags: Readonly<Record<string, unknown>> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-gateway-'));
  const cheap = Object.entries(cheapPasswords).map(
    ([name, value]) => [`oauth.password.${name}`, value] as const,
  );
  const gateway = await startGateway({
    config: loadConfig({ env: {}, flags: { port: 0, dataDir, ...Object.fromEntries(cheap), ...flags } })
      .config,
  });
  const { url } = gateway;
  const browser = browserAt(url);
  const { pathname, search } = new URL((await gateway.services.setupLink()) ?? '');
  const password = 'correct horse battery';
  await browser.submit(await browser.get(pathname + search), { password, repeated: password });

  return {
    url,
    dataDir,
    clientId: firstPartyClient.id,
    browser,
    /** What the owner's browser comes back to the program with after its request was approved. */
    async approve(request: URL): Promise<URL> {
      const consent = await browser.get(request.pathname + request.search);
      const { location } = await browser.submit(consent, { decision: 'approve' });
      return new URL(location ?? 'about:nothing');
    },
    async approveDevice(verification: string): Promise<void> {
      const { pathname: path, search: query } = new URL(verification);
      const { status, text } = await browser.submit(await browser.get(path + query), { decision: 'approve' });
      if (status !== 200) throw new Error(`The device was not approved: ${status} ${text}`);
    },
    async close() {
      await gateway.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

export type RunningGateway = Awaited<ReturnType<typeof runGateway>>;

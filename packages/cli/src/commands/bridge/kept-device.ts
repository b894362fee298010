import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { replaceFile } from '@sallyport/core/replace-file';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';

/** The trusted device token of one account at one gateway, for which there is no stored login; 0600. */
export interface KeptDevice {
  load(): Promise<string | undefined>;
  save(token: string): Promise<void>;
  forget(): Promise<void>;
}

/** `undefined`: the service does not say whose the token of the environment is. */
export async function keptDevice(
  { settings }: Pick<Context, 'settings'>,
  { client, organizationId }: Pick<Connection, 'client' | 'organizationId'>,
  signal: AbortSignal | undefined,
): Promise<KeptDevice | undefined> {
  const profile = await client.oauth.profile({ ...(signal && { signal }) }).catch((error: unknown) => {
    if (error instanceof ServiceError && error.status < 500) return undefined;
    throw error;
  });
  const accountId = profile?.account?.uuid;
  if (accountId === undefined) return undefined;
  const key = createHash('sha256').update(JSON.stringify([settings.baseUrl, organizationId, accountId]));
  const folder = join(settings.stateDir, 'devices');
  const file = join(folder, `${key.digest('hex').slice(0, 32)}.json`);
  return {
    load: () => readFile(file, 'utf8').then(tokenIn, () => undefined),
    async save(token) {
      makeDirectory(folder);
      await replaceFile(file, JSON.stringify({ device_token: token }));
    },
    forget: () => rm(file, { force: true }),
  };
}

function tokenIn(text: string): string | undefined {
  try {
    const { device_token: token } = JSON.parse(text) as { device_token?: unknown };
    return typeof token === 'string' ? token : undefined;
  } catch {
    return undefined; // a file that somebody broke
  }
}

import { parseCredentials, writeCredentials } from './credentials-file.ts';
import { loginFiles, type LoginFilesOptions } from './login-files.ts';
import type { TokenStore } from './token-store.ts';

export type FileTokenStoreOptions = LoginFilesOptions;

/** Logins as one JSON file each, for their owner alone. */
export function fileTokenStore(options: FileTokenStoreOptions): TokenStore {
  const files = loginFiles(options);
  return {
    async load(key) {
      const text = await files.read(key);
      return text === undefined ? undefined : parseCredentials(text, files.pathOf(key));
    },
    save: (key, credentials) => files.write(key, writeCredentials(credentials)),
    probe: (key) => files.probe(key),
    remove: (key) => files.remove(key),
    withLock: (key, act) => files.withLock(key, act),
  };
}

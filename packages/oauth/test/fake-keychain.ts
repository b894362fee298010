import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { systemKeychain, type Keychain } from '../src/index.ts';

/** How the tool behaves: the folders beside this file; `missing`: there is none. */
export type Behaviour = 'working' | 'locked' | 'hanging' | 'without-bus' | 'missing';

/** An environment with that tool first on its PATH, and a keyring in `folder`. */
export function fakeEnvironment(tool: 'secret-tool' | 'security', behaviour: Behaviour, folder: string) {
  mkdirSync(folder, { recursive: true });
  const own = join(import.meta.dirname, tool, behaviour);
  // Nothing of the machine's own where there is to be none.
  const PATH = behaviour === 'missing' ? folder : [own, '/usr/bin', '/bin'].join(delimiter);
  return { PATH, FAKE_KEYRING: folder };
}

export function fakeSecretTool(behaviour: Behaviour, folder: string): Keychain {
  const env = fakeEnvironment('secret-tool', behaviour, folder);
  return systemKeychain({ service: 'my-tool', platform: 'linux', env })!;
}

export function fakeSecurity(behaviour: 'working' | 'locked', folder: string): Keychain {
  const env = fakeEnvironment('security', behaviour, folder);
  return systemKeychain({ service: 'my-tool', platform: 'darwin', env })!;
}

/** The items that are in the keyring, and the arguments of all calls. */
export function keyringIn(folder: string) {
  const items = readdirSync(folder).filter((name) => name !== 'calls');
  return {
    items: items.map((name) => readFileSync(join(folder, name), 'utf8')),
    calls: readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n'),
  };
}

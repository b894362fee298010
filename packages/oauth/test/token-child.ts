// Prints the access token of the login in the folder that it is given, from the keyring in the second one if there is one.
import { undiciTransport } from '@sallyport/core/client';
import { fileTokenStore, systemTokenStore, TokenProvider } from '../src/index.ts';
import { fakeSecretTool } from './fake-keychain.ts';

const [directory = '', keyring] = process.argv.slice(2);
const transport = undiciTransport();
const store =
  keyring === undefined
    ? fileTokenStore({ directory })
    : systemTokenStore({ directory, service: 'my-tool', keychain: fakeSecretTool('working', keyring) });
const tokens = new TokenProvider({ store, key: 'main', transport });
console.log(await tokens.token());
await transport.close();

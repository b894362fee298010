// Prints the access token of the login in the folder that it is given.
import { undiciTransport } from '@sallyport/core/client';
import { fileTokenStore, TokenProvider } from '../src/index.ts';

const [directory = ''] = process.argv.slice(2);
const transport = undiciTransport();
const tokens = new TokenProvider({ store: fileTokenStore({ directory }), key: 'main', transport });
console.log(await tokens.token());
await transport.close();

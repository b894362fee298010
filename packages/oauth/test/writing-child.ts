// Stores one login after the other, each of one letter only, until it is killed; says so before each.
import { fileTokenStore } from '../src/index.ts';

const [directory = '', size = '1', umask = '22'] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const store = fileTokenStore({ directory });
for (let i = 0; ; i += 1) {
  const accessToken = String.fromCharCode(97 + (i % 26)).repeat(Number(size));
  process.stdout.write(`${i}\n`);
  await store.save('main', { baseUrl: 'b', clientId: 'c', accessToken, expiresAt: i, scope: 's' });
}

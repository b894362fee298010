// Takes the lock of a login, says so, and keeps it until it is killed.
import { fileTokenStore } from '../src/index.ts';

const [directory = ''] = process.argv.slice(2);
await fileTokenStore({ directory }).withLock('main', () => {
  console.log('locked');
  return new Promise(() => setInterval(() => undefined, 60_000));
});

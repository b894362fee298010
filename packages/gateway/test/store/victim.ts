// Writes until it is killed; prints each act's memo once it was answered.
import { pathToFileURL } from 'node:url';
import { lockStore } from '../../src/store/embedded/lock.ts';
import { openWriter } from '../../src/store/embedded/writer.ts';
import type { areas } from './ledger.ts';

const [directory = '', contents = '', name = ''] = process.argv.slice(2);
lockStore(`${directory}/store.db`);
const writer = await openWriter<typeof areas>({
  path: `${directory}/store.db`,
  contents: pathToFileURL(contents),
});
const ledger = writer.area('ledger');
let next = 0;
for (let lane = 0; lane < 64; lane++) void write();

async function write(): Promise<void> {
  for (;;) {
    const memo = `${name}-${String(++next)}`;
    await ledger.deposit({ account: 'victim', amount: 1, memo });
    process.stdout.write(`${memo}\n`);
  }
}

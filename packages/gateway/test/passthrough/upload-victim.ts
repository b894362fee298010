// A gateway in front of an upstream as a process of its own, to be weighed: `upload-victim.ts UPSTREAM`.
import { through } from './through.ts';

const { url } = await through(process.argv[2] ?? '');
process.stdout.write(`${url}\n`);

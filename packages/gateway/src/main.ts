import { enableCompileCache } from 'node:module';

// Before anything else is compiled: the second start reads code that is compiled already.
enableCompileCache();
const { runProgram } = await import('./program.ts');
await runProgram(process.argv);

import { enableCompileCache } from 'node:module';

// Before anything else is compiled: the second start reads code that is compiled already.
enableCompileCache();
const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(process.argv.slice(2));

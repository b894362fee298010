import { enableCompileCache } from 'node:module';

// Before anything else is compiled: the second start reads code that is compiled already.
enableCompileCache();
const { runProgram } = await import('./program.ts');
const { outliveReaders } = await import('./io/terminal.ts');
const { tellUnforeseen } = await import('./io/unforeseen.ts');
outliveReaders();
tellUnforeseen(process.argv);
process.exitCode = await runProgram(process.argv.slice(2));

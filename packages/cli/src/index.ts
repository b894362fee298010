export { createProgram, runProgram } from './program.ts';
export { exitCodeMeanings, exitCodes, lastingExitCodes } from './io/exit.ts';

export { createProgram, runProgram } from './program.ts';
export { exitCodeMeanings, exitCodes } from './io/exit.ts';

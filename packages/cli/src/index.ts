export { runProgram } from './program.ts';
export { exitCodes } from './io/exit.ts';

// A process that is killed while it kills a session's tree: node -C @sallyport/source doomed-killer.ts COMMAND
import { spawn } from 'node:child_process';
import { withLifeline } from '../lifeline.ts';
import { killTree, markVariables } from '../process-tree.ts';

const [command = ''] = process.argv.slice(2);
const mark = { sessionId: 'session_doomed', workId: `work_doomed_${process.pid}` };
const shell = spawn('/bin/sh', withLifeline(command), {
  detached: true,
  env: { ...process.env, ...markVariables(mark) },
  stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
});
shell.stdout?.once('data', () => {
  void killTree(Number(shell.pid), mark);
  process.kill(process.pid, 'SIGKILL');
});

import { execFile } from 'node:child_process';

export interface ToolCall {
  readonly args: readonly string[];
  /** What it reads on stdin: the way for secrets, since everyone on the machine may see its arguments. */
  readonly input?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the system to its end; the signal kills it. Rejects where it cannot be run. */
export function runTool(tool: string, { args, input = '', env, signal }: ToolCall): Promise<ToolAnswer> {
  return new Promise((resolve, reject) => {
    const options = { env, signal, killSignal: 'SIGKILL' as const };
    const child = execFile(tool, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ exitCode: 0, stdout, stderr });
      if (typeof error.code === 'number') return resolve({ exitCode: error.code, stdout, stderr });
      reject(isMissing(error) ? new Error(`there is no ${tool}`, { cause: error }) : error);
    });
    child.stdin?.on('error', () => undefined).end(input); // whoever ends without reading says why
  });
}

/**
 * What the tool says went wrong, as an `Error`. The exit code alone does not tell: `secret-tool` ends with 0 for a secret that
 * is too long for it, `security -i` whatever became of the commands.
 */
export function complaintOf(tool: string, { exitCode, stderr }: ToolAnswer): Error | undefined {
  const prefix = `${tool}: `;
  const said = stderr.split('\n').find((line) => line.startsWith(prefix));
  if (said !== undefined) return new Error(said.slice(prefix.length).trim());
  return exitCode === 0
    ? undefined
    : new Error(stderr.trim().split('\n')[0] || `${tool} ended with ${exitCode}`);
}

function isMissing(error: Error): boolean {
  return 'code' in error && error.code === 'ENOENT';
}

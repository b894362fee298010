import type { Keychain } from './keychain.ts';
import { complaintOf, runTool, type ToolAnswer, type ToolCall } from './run-tool.ts';

const tool = 'security';
/** errSecItemNotFound, as the tool's exit code. */
const notFound = 44;
/** The tool cuts a longer line of its interactive mode in two. */
const longestLine = 4096;

/**
 * The macOS login keychain, through `security`. A password given to it as an argument is seen by everyone on the machine, so
 * it is written through the interactive mode, which reads commands from stdin.
 */
export function securityTool(service: string, env: NodeJS.ProcessEnv): Keychain {
  const item = (account: string) => ['-s', word(service), '-a', word(account)];
  const run = (call: Omit<ToolCall, 'env'>) => runTool(tool, { ...call, env });

  return {
    name: tool,
    async read(account, signal) {
      const answer = await run({ args: ['find-generic-password', ...item(account), '-w'], signal });
      if (answer.exitCode === notFound) return undefined;
      throwComplaint(answer);
      return Buffer.from(answer.stdout.trim(), 'base64').toString();
    },
    async write(account, secret, signal) {
      const encoded = Buffer.from(secret).toString('base64');
      const line = `${['add-generic-password', '-U', ...item(account), '-w', encoded].join(' ')}\n`;
      if (line.length > longestLine) throw new Error('the login is too long for it');
      throwComplaint(await run({ args: ['-i'], input: line, signal }));
    },
    async remove(account, signal) {
      const answer = await run({ args: ['delete-generic-password', ...item(account)], signal });
      if (answer.exitCode !== notFound) throwComplaint(answer);
    },
  };
}

function throwComplaint(answer: ToolAnswer): void {
  const complaint = complaintOf(tool, answer);
  if (complaint) throw complaint;
}

/** One word for the interactive mode, which knows quotes and spaces. */
function word(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

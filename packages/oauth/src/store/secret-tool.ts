import type { Keychain } from './keychain.ts';
import { complaintOf, runTool, type ToolAnswer, type ToolCall } from './run-tool.ts';

const tool = 'secret-tool';
/** The tool cuts what is longer, stores that, and ends with 0. */
const longest = 8191;

/** The Secret Service of a Linux desktop (GNOME Keyring, KWallet, KeePassXC), through libsecret's `secret-tool`. */
export function secretTool(service: string, env: NodeJS.ProcessEnv): Keychain {
  const attributes = (account: string) => ['service', service, 'account', account];
  const run = (call: Omit<ToolCall, 'env'>) => runTool(tool, { ...call, env });

  /** A look-up and a removal are silent where there is nothing, and where it is locked; a search finds what is locked, too. */
  async function requireNone(account: string, signal: AbortSignal): Promise<undefined> {
    const found = await run({ args: ['search', ...attributes(account)], signal });
    if (found.stdout.trim() !== '') throw new Error('it is locked');
  }

  return {
    name: tool,
    async read(account, signal) {
      const answer = await run({ args: ['lookup', ...attributes(account)], signal });
      if (isSilent(answer)) return requireNone(account, signal);
      throwComplaint(answer);
      return answer.stdout;
    },
    async write(account, secret, signal) {
      if (Buffer.byteLength(secret) > longest) throw new Error('the login is too long for it');
      const args = ['store', `--label=${service}: ${account}`, ...attributes(account)];
      throwComplaint(await run({ args, input: secret, signal }));
    },
    async remove(account, signal) {
      const answer = await run({ args: ['clear', ...attributes(account)], signal });
      if (isSilent(answer)) return requireNone(account, signal);
      throwComplaint(answer);
    },
  };
}

function isSilent({ exitCode, stderr }: ToolAnswer): boolean {
  return exitCode === 1 && stderr.trim() === '';
}

function throwComplaint(answer: ToolAnswer): void {
  const complaint = complaintOf(tool, answer);
  if (complaint) throw complaint;
}

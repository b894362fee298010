import type { Keychain } from './keychain.ts';
import { secretTool } from './secret-tool.ts';
import { securityTool } from './security-tool.ts';

export interface SystemKeychainOptions {
  /** What the program is called there. */
  readonly service: string;
  /** Default: `process.env`; its PATH is where the tools are looked for. */
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

/** The keychain of this machine, whether it works or not; `undefined` where the system has none that a program can be asked for. */
export function systemKeychain({
  service,
  env = process.env,
  platform = process.platform,
}: SystemKeychainOptions): Keychain | undefined {
  if (platform === 'win32') return undefined;
  return platform === 'darwin' ? securityTool(service, env) : secretTool(service, env);
}

import { join } from 'node:path';
import envPaths from 'env-paths';
import { CommandError, exitCodes } from '../io/exit.ts';

/** Where the command line works against, and where it keeps its things: flags over environment over defaults. */
export interface Settings {
  /** The gateway's address, without a trailing slash. */
  readonly baseUrl: string;
  /** What the user may edit. */
  readonly configDir: string;
  /** Logins, the bridge's records, the telemetry spool: 0700. */
  readonly stateDir: string;
  /** An access token or API key from outside; it is used over the stored login and never stored. */
  readonly token: string | undefined;
  /** The organization to act for; default: the login's. */
  readonly organizationId: string | undefined;
}

export interface SettingsFlags {
  readonly baseUrl?: string;
}

export const defaultBaseUrl = 'http://127.0.0.1:8787';

export function readSettings(flags: SettingsFlags, env: NodeJS.ProcessEnv): Settings {
  const baseUrl = (flags.baseUrl ?? given(env['SALLYPORT_BASE_URL']) ?? defaultBaseUrl).replace(/\/+$/, '');
  const origin = flags.baseUrl === undefined ? 'SALLYPORT_BASE_URL' : '--base-url';
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new CommandError(
      'invalid_base_url',
      `${origin} is ${JSON.stringify(baseUrl)}, which is no http or https address.`,
      exitCodes.usage,
      `Give one such as ${defaultBaseUrl}.`,
    );
  }
  const own = given(env['SALLYPORT_CONFIG_DIR']);
  const xdg = envPaths('sallyport', { suffix: '' });
  return {
    baseUrl,
    configDir: own ?? xdg.config,
    // env-paths calls the XDG state home `log`.
    stateDir: own === undefined ? xdg.log : join(own, 'state'),
    token: given(env['SALLYPORT_TOKEN']),
    organizationId: given(env['SALLYPORT_ORG']),
  };
}

/** An empty variable counts as none, as in a shell's `VAR= command`. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

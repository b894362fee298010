import { ServiceError, TransportError } from '@sallyport/core';
import { createClient } from '@sallyport/core/client';
import {
  loginWithBrowser,
  loginWithDevice,
  loginWithSessionKey,
  revokeLogin,
  storeLogin,
  type Credentials,
  type DevicePrompt,
  type SessionKeyLogin,
} from '@sallyport/oauth';
import { loginStore, reach } from '../connect.ts';
import type { Context } from '../context.ts';
import { CommandError, exitCodes } from '../io/exit.ts';
import { printable } from '../io/printable.ts';
import { readStdin } from '../io/stdin.ts';
import type { Output } from '../io/terminal.ts';
import { describeAccount } from './whoami.ts';

export interface LoginOptions {
  readonly device?: boolean;
  readonly sessionKeyStdin?: boolean;
}

export async function login(context: Context, options: LoginOptions): Promise<Output> {
  if (options.device === true && options.sessionKeyStdin === true) {
    throw new CommandError('usage', '--device and --session-key-stdin exclude each other.', exitCodes.usage);
  }
  const reached = reach(context);
  const { store, loginKey } = loginStore(context.settings);
  // Before a person is sent to approve what then could not be kept.
  await store.probe(loginKey);
  const credentials = await logIn(context, reached, options).catch((error: unknown) => {
    throw isNotThere(error) ? noGatewayAt(context.settings.baseUrl, error) : error;
  });
  await storeLogin(store, loginKey, credentials).catch(async (error: unknown) => {
    // Nobody could use it, and nobody could end it.
    await revokeLogin(reached, credentials).catch(() => undefined);
    throw error;
  });
  const client = createClient({
    ...reached,
    tokens: { token: () => Promise.resolve(credentials.accessToken) },
  });
  const output = describeAccount(await client.oauth.profile(), context.settings.baseUrl);
  return { json: output.json, human: `Logged in as ${output.human}` };
}

function isNotThere(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 404 && !(error.cause instanceof TransportError);
}

function noGatewayAt(baseUrl: string, cause: ServiceError): CommandError {
  return new CommandError(
    cause.code,
    `${baseUrl} is not the address of a Sallyport gateway: there is nothing to log in to.`,
    exitCodes.notFound,
    'Give the right one with --base-url, or set it: sallyport config set base-url URL',
    { cause },
  );
}

function logIn(
  context: Context,
  reached: ReturnType<typeof reach>,
  options: LoginOptions,
): Promise<Credentials> {
  const { interrupt, settings, terminal } = context;
  const common = {
    ...reached,
    signal: interrupt.asked,
    ...(settings.organizationId !== undefined && { organizationId: settings.organizationId }),
  };
  if (options.sessionKeyStdin === true) return withSessionKey(context, common);
  if (options.device === true || !hasBrowser(context.env)) {
    return loginWithDevice({ ...common, onPrompt: (prompt) => terminal.note(devicePrompt(prompt, context)) });
  }
  return loginWithBrowser({
    ...common,
    async openBrowser(url) {
      terminal.note(
        `Opening the browser. If none opens, go to:\n\n  ${url}\n\nor interrupt and use \`sallyport login --device\`.`,
      );
      const { default: open } = await import('open');
      const opener = await open(url);
      opener.on('error', () => undefined); // the address is on the screen
    },
  });
}

async function withSessionKey(
  context: Context,
  common: Omit<SessionKeyLogin, 'sessionKey'>,
): Promise<Credentials> {
  const sessionKey = (await readStdin(context, 'the session key')).trim();
  if (sessionKey === '') {
    throw new CommandError(
      'no_session_key',
      'There is no session key on stdin.',
      exitCodes.usage,
      'Pipe one: sallyport-gateway admin session-key | sallyport login --session-key-stdin',
    );
  }
  return loginWithSessionKey({ ...common, sessionKey });
}

function devicePrompt(
  { verification_uri: uri, user_code: code, expiresAt }: DevicePrompt,
  { clock, terminal }: Context,
): string {
  const minutes = Math.round((expiresAt - clock.now()) / 60_000);
  return [
    `Open ${terminal.style('underline', printable(uri), 'err')} in a browser and enter the code ${terminal.style('bold', printable(code), 'err')}`,
    `Waiting for your approval; the code holds for ${minutes} minutes.`,
  ].join('\n');
}

/** Over SSH, or without a display, a browser would open where nobody looks, or not at all. */
function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? env['BROWSER']);
}

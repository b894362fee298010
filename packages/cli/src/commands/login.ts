import { ServiceError, TransportError } from '@sallyport/core';
import { createClient } from '@sallyport/core/client';
import {
  login as anyLogin,
  loginWithSessionKey,
  revokeLogin,
  storeLogin,
  type Credentials,
  type SessionKeyLogin,
} from '@sallyport/oauth';
import { loginStore, reach } from '../connect.ts';
import type { Context } from '../context.ts';
import { CommandError, exitCodes } from '../io/exit.ts';
import { advising } from '../io/next-step.ts';
import { printable } from '../io/printable.ts';
import { readStdin } from '../io/stdin.ts';
import type { Output } from '../io/terminal.ts';
import { waitingForApproval } from './waiting-for-approval.ts';
import { describeAccount } from './whoami.ts';

/** How long the word that an older login has ended may take. */
const farewellMs = 3_000;

export interface LoginOptions {
  readonly device?: boolean;
  readonly sessionKeyStdin?: boolean;
}

export async function login(context: Context, options: LoginOptions): Promise<Output> {
  if (options.device === true && options.sessionKeyStdin === true) {
    throw new CommandError(
      'usage',
      '--device and --session-key-stdin exclude each other.',
      exitCodes.usage,
      'See: sallyport login --help',
    );
  }
  const reached = reach(context);
  const { store, loginKey } = loginStore(context);
  // Before a person is sent to approve what then could not be kept.
  await store.probe(loginKey);
  const credentials = await logIn(context, reached, options).catch((error: unknown) => {
    throw isNotThere(error) ? noGatewayAt(context.settings.baseUrl, error) : error;
  });
  const { replaced } = await storeLogin(store, loginKey, credentials).catch(async (error: unknown) => {
    // Nobody could use it, and nobody could end it.
    await revokeLogin(reached, credentials).catch(() => undefined);
    throw error;
  });
  if (replaced) await endReplaced(context, reached, replaced);
  noteOtherOrganization(context, credentials);
  const client = createClient({
    ...reached,
    tokens: { token: () => Promise.resolve(credentials.accessToken) },
  });
  const output = describeAccount(await client.oauth.profile(), context.settings.baseUrl);
  return { json: output.json, human: `Logged in as ${output.human}` };
}

/** By a device code, a person chooses the organization in a browser that does not know what the settings here name. */
function noteOtherOrganization({ settings, terminal }: Context, { organizationId }: Credentials): void {
  const wanted = settings.organizationId;
  if (wanted === undefined || organizationId === undefined || organizationId === wanted) return;
  terminal.note(
    `This login is for another organization than the settings name (${wanted}). For that one: log in again, and choose it in the browser.`,
  );
}

/** The login from before: nobody could end it any more, since its tokens are gone from here. */
async function endReplaced(
  { clock, terminal, settings }: Context,
  reached: ReturnType<typeof reach>,
  replaced: Credentials,
): Promise<void> {
  const late = new AbortController();
  const timer = clock.after(farewellMs, () => late.abort(), { keepAlive: true });
  try {
    await revokeLogin({ ...reached, clientId: replaced.clientId }, replaced, late.signal);
  } catch (error) {
    const why = late.signal.aborted ? `no answer within ${farewellMs / 1000} s` : (error as Error).message;
    terminal.note(
      `The login from before could not be ended (${printable(why)}); it holds at ${settings.baseUrl} until it expires.`,
    );
  } finally {
    timer.cancel();
  }
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

async function logIn(
  context: Context,
  reached: ReturnType<typeof reach>,
  options: LoginOptions,
): Promise<Credentials> {
  const { interrupt, settings } = context;
  const common = {
    ...reached,
    signal: interrupt.asked,
    ...(settings.organizationId !== undefined && { organizationId: settings.organizationId }),
  };
  if (options.sessionKeyStdin === true) return withSessionKey(context, common);
  const waiting = waitingForApproval(context);
  const isForBrowser = options.device !== true && hasBrowser(context.env);
  try {
    return await anyLogin({
      ...common,
      onPrompt: (prompt) => waiting.show(prompt),
      ...(isForBrowser && { openBrowser: (url: string) => openBrowser(context, url) }),
    });
  } finally {
    waiting.end();
  }
}

/** Rejects where the system's opener fails; settles in no other way, since some openers end with the browser. */
async function openBrowser({ terminal }: Context, url: string): Promise<void> {
  terminal.note(
    `Opening the browser. If none opens, go to:\n\n  ${url}\n\nor interrupt and use \`sallyport login --device\`.`,
  );
  try {
    const { default: open } = await import('open');
    const opener = await open(url);
    await new Promise((_resolve, reject) => {
      opener.once('error', reject);
      opener.once('exit', (code) => {
        if (code !== null && code > 0) reject(new Error(`the opener ended with ${code}`));
      });
    });
  } catch (error) {
    terminal.note('No browser opens here.');
    throw error;
  }
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
  const loggingIn = advising(loginWithSessionKey({ ...common, sessionKey }), {
    invalid_token: 'Take a new session key: `sallyport-gateway admin session-key` prints one.',
  });
  if (common.organizationId === undefined) return loggingIn;
  // The account of the key is no member there, or there is no such organization.
  const nextStep = `See who names the organization ${common.organizationId}: sallyport config list --show-origin`;
  return advising(loggingIn, { forbidden: nextStep, invalid_request: nextStep });
}

/** Over SSH, or without a display, a browser would open where nobody looks, or not at all. */
function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? env['BROWSER']);
}

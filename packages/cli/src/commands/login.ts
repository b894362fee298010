import { ServiceError, TransportError } from '@sallyport/core';
import { createClient } from '@sallyport/core/client';
import {
  login as anyLogin,
  loginWithSessionKey,
  revokeLogin,
  storeLogin,
  type Credentials,
  type Login,
  type SessionKeyLogin,
} from '@sallyport/oauth';
import { organizationId as organizationIdIn } from '../config/keys.ts';
import { resolveSettings } from '../config/resolve.ts';
import { readSources } from '../config/settings.ts';
import { loginStore, reach } from '../connect.ts';
import type { Context } from '../context.ts';
import { openBrowser } from '../io/browser.ts';
import { CommandError, exitCodes } from '../io/exit.ts';
import { advising } from '../io/next-step.ts';
import { printable } from '../io/printable.ts';
import { readStdin } from '../io/stdin.ts';
import type { Output } from '../io/terminal.ts';
import { addressCommand } from '../known-logins.ts';
import { organizationNamed, organizationsOf } from '../organizations.ts';
import { configSet } from './config/change.ts';
import { organizationIdOf } from './organization-id.ts';
import { waitingForApproval } from './waiting-for-approval.ts';
import { describeAccount } from './whoami.ts';

/** How long the word that an older login has ended may take. */
const farewellMs = 3_000;

export interface LoginOptions {
  readonly device?: boolean;
  readonly sessionKeyStdin?: boolean;
  /** By UUID or name. */
  readonly org?: string;
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
  const { signal, organizationId, sessionKey } = await wantedLogin(context, reached, options);
  const wanted = { ...reached, signal, ...(organizationId !== undefined && { organizationId }) };
  const loggingIn =
    sessionKey === undefined ? logIn(context, wanted, options) : withSessionKey({ ...wanted, sessionKey });
  const credentials = await loggingIn.catch((error: unknown) => {
    throw isNotThere(error) ? noGatewayAt(context.settings.baseUrl, error) : error;
  });
  await refuseOther(reached, credentials, organizationId);
  const { replaced } = await storeLogin(store, loginKey, credentials).catch(async (error: unknown) => {
    // Nobody could use it, and nobody could end it.
    await revokeLogin(reached, credentials).catch(() => undefined);
    throw error;
  });
  if (replaced) await endReplaced(context, reached, replaced);
  const { organization: chosen } = context.settings;
  if (
    options.org !== undefined &&
    organizationId !== undefined &&
    chosen !== undefined &&
    chosen !== organizationId
  )
    await configSet(context, {}, 'organization', organizationId);
  const client = createClient({
    ...reached,
    tokens: { token: () => Promise.resolve(credentials.accessToken) },
  });
  const output = describeAccount(
    await client.oauth.profile({ signal: context.interrupt.asked }),
    context.settings.baseUrl,
  );
  noteAddress(context);
  return { json: output.json, human: `Logged in as ${output.human}` };
}

/** A flag is of one command: the next one would look for the login where it is not. */
function noteAddress({ flags: { baseUrl, profile }, settings, terminal, env }: Context): void {
  if (baseUrl === undefined) return;
  const next = resolveSettings(readSources({ ...(profile !== undefined && { profile }) }, env))['base-url'];
  // Whoever has set another one has more gateways than this one.
  if (next.origin !== 'default' || next.value === settings.baseUrl) return;
  terminal.note(
    `Without --base-url commands go to ${next.value ?? ''}. To have them all go here: ${addressCommand(settings.baseUrl)}`,
  );
}

/** What is to be logged in to, and with which session key, if with one. */
async function wantedLogin(context: Context, reached: ReturnType<typeof reach>, options: LoginOptions) {
  const { interrupt, settings } = context;
  const sessionKey = options.sessionKeyStdin === true ? await sessionKeyFromStdin(context) : undefined;
  const given = options.org ?? settings.organization;
  const origin = options.org === undefined ? 'organization' : '--org';
  const call = { signal: interrupt.asked, ...(sessionKey !== undefined && { sessionKey }) };
  if (given === undefined) return { ...call, organizationId: undefined };
  if (sessionKey === undefined || organizationIdIn(given) !== undefined)
    return { ...call, organizationId: await organizationIdOf(context, given, origin) };
  const all = await organizationsOf(createClient(reached), { bearer: sessionKey, signal: interrupt.asked });
  // Of a key that the service does not know it says nothing else; the login then says so.
  return { ...call, organizationId: all.length === 0 ? undefined : organizationNamed(all, given).uuid };
}

/** By a device code, a person chooses the organization in a browser that does not know which one is wanted here. */
async function refuseOther(
  reached: ReturnType<typeof reach>,
  credentials: Credentials,
  wanted: string | undefined,
): Promise<void> {
  const { organizationId: approved } = credentials;
  if (wanted === undefined || approved === undefined || approved === wanted) return;
  await revokeLogin(reached, credentials).catch(() => undefined);
  throw new CommandError(
    'other_organization',
    `The login was approved for the organization ${approved}, and ${wanted} is wanted: it was ended, and nothing is changed here.`,
    exitCodes.notLoggedIn,
    `Log in again, and choose ${wanted} in the browser. Where a setting wants it: sallyport config list --show-origin`,
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
  wanted: Omit<Login, 'onPrompt' | 'openBrowser'>,
  options: LoginOptions,
): Promise<Credentials> {
  const waiting = waitingForApproval(context);
  const isForBrowser = options.device !== true && hasBrowser(context.env);
  try {
    return await anyLogin({
      ...wanted,
      onPrompt: (prompt) => waiting.show(prompt),
      ...(isForBrowser && { openBrowser: (url: string) => openFor(context, url) }),
    });
  } finally {
    waiting.end();
  }
}

async function openFor({ terminal, env }: Context, url: string): Promise<void> {
  terminal.note(
    `Opening the browser. If none opens, go to:\n\n  ${url}\n\nor interrupt and use \`sallyport login --device\`.`,
  );
  try {
    await openBrowser(url, env);
  } catch (error) {
    // Nobody listens for what that page would answer.
    terminal.note('No browser opens here, and that address is of no use any more.');
    throw error;
  }
}

async function sessionKeyFromStdin(context: Context): Promise<string> {
  const sessionKey = (await readStdin(context, 'the session key')).trim();
  if (sessionKey !== '') return sessionKey;
  throw new CommandError(
    'no_session_key',
    'There is no session key on stdin.',
    exitCodes.usage,
    'Pipe one: sallyport-gateway admin session-key | sallyport login --session-key-stdin',
  );
}

function withSessionKey(wanted: SessionKeyLogin): Promise<Credentials> {
  const loggingIn = advising(loginWithSessionKey(wanted), {
    invalid_token: 'Take a new session key: `sallyport-gateway admin session-key` prints one.',
    organization_required: 'Name one: sallyport login --session-key-stdin --org NAME',
  });
  if (wanted.organizationId === undefined) return loggingIn;
  // The account of the key is no member there, or there is no such organization.
  const nextStep = `See who names the organization ${wanted.organizationId}: sallyport config list --show-origin`;
  return advising(loggingIn, { forbidden: nextStep, invalid_request: nextStep });
}

/** Over SSH, or without a display, a browser would open where nobody looks, or not at all. */
function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? env['BROWSER']);
}

import { join } from 'node:path';
import { ServiceError, silentLog, type Reporter, type TokenSource } from '@sallyport/core';
import { createClient, undiciTransport, type Client, type ClientOptions } from '@sallyport/core/client';
import {
  environmentToken,
  systemKeychain,
  systemTokenStore,
  TokenProvider,
  type SystemTokenStore,
} from '@sallyport/oauth';
import { TelemetryBatcher } from '@sallyport/telemetry';
import { isTelemetryOn } from './commands/telemetry/state.ts';
import type { Context } from './context.ts';
import { organizationId } from './config/keys.ts';
import { loginCommand, loginKeyOf, loginRequired } from './known-logins.ts';
import { organizationNamed, organizationsOf, shownById, shownOrganization } from './organizations.ts';
import { CommandError, exitCodes } from './io/exit.ts';
import { printable } from './io/printable.ts';
import { telemetryOptions } from './telemetry-options.ts';
import { version } from './version.ts';

/** The gateway as the person's login sees it. */
export interface LoggedIn {
  readonly clientOptions: ClientOptions;
  readonly client: Client;
  readonly tokens: TokenSource;
  readonly store: SystemTokenStore;
  /** The login's key in the store. */
  readonly loginKey: string;
  /** The organization of the stored login; a token of the environment does not tell. */
  readonly ownOrganizationId: string | undefined;
}

/** ... and the organization that it acts for. */
export interface Connection extends LoggedIn {
  readonly organizationId: string;
  readonly reporter: Reporter;
}

/** What of a context leads to a gateway, and to the login for it. */
export type Reaching = Pick<Context, 'settings' | 'terminal' | 'clock' | 'env' | 'onEnd'>;

/** How the gateway is reached, logged in or not. */
export function reach({ settings, clock, onEnd }: Reaching): Omit<ClientOptions, 'tokens'> {
  const transport = undiciTransport();
  onEnd(() => transport.close());
  const { baseUrl, dialect } = settings;
  const headers = { 'user-agent': `sallyport/${version}` };
  return { baseUrl, dialect, transport, clock, headers };
}

/** Where logins rest, and the key of the one that counts here. */
export function loginStore({ settings, terminal, clock, env }: Reaching): {
  store: SystemTokenStore;
  loginKey: string;
} {
  const { stateDir, credentialStore } = settings;
  const store = systemTokenStore({
    directory: join(stateDir, 'logins'),
    service: 'sallyport',
    place: credentialStore,
    keychain: systemKeychain({ service: 'sallyport', env }),
    onFallback: (why) =>
      terminal.note(
        `The login is kept in a file that only this account can read: no keychain can be used (${printable(why)}).`,
      ),
    log: {
      ...silentLog,
      warn: (_about, message) => terminal.note(printable(message)),
    },
    clock,
  });
  return { store, loginKey: loginKeyOf(settings) };
}

/** The token of the environment, else of the stored login, renewed as needed. */
export function tokensOf(context: Context, reached: ReturnType<typeof reach>): TokenSource {
  const { store, loginKey } = loginStore(context);
  return environmentToken(context.env) ?? new TokenProvider({ ...reached, store, key: loginKey });
}

/**
 * Takes the token of the environment or the stored login, whatever organization it is for. Throws `LoginError`
 * `login_required` without one.
 */
export async function logInToAccount(context: Context): Promise<LoggedIn> {
  const reached = reach(context);
  const tokens = tokensOf(context, reached);
  const clientOptions: ClientOptions = { ...reached, tokens };
  // Asked for first, so that a missing login is what the person is told.
  await tokens.token({ signal: context.interrupt.asked }).catch(async (error: unknown) => {
    throw await loginRequired(context.settings, error);
  });
  const { store, loginKey } = loginStore(context);
  const stored = context.settings.token === undefined ? await store.load(loginKey) : undefined;
  const client = createClient(clientOptions);
  return { clientOptions, client, tokens, store, loginKey, ownOrganizationId: stored?.organizationId };
}

/** Logs in for the organization of the settings. Throws `other_organization` where the login is for another one. */
export async function logIn(context: Context): Promise<LoggedIn> {
  const loggedIn = await logInToAccount(context);
  await chosenOrganization(context, loggedIn);
  return loggedIn;
}

/** Logs in, and finds out for which organization; what the command does is reported. */
export async function connect(context: Context): Promise<Connection> {
  const acting = await connectUnreported(context);
  return { ...acting, reporter: telemetry(context, acting.clientOptions) };
}

/** The same for what is no command of a person. */
export async function connectUnreported(context: Context): Promise<Omit<Connection, 'reporter'>> {
  const loggedIn = await logInToAccount(context);
  const { client } = loggedIn;
  const organizationId =
    (await chosenOrganization(context, loggedIn)) ??
    (await tokensOrganization(client, context.interrupt.asked));
  return { ...loggedIn, organizationId };
}

/** The organization of the settings, which a stored login has to be for; where they name none, the login's. */
async function chosenOrganization(
  { settings, interrupt }: Context,
  { client, ownOrganizationId: own }: LoggedIn,
): Promise<string | undefined> {
  const { organization: chosen } = settings;
  if (chosen === undefined || chosen === own) return own;
  // The service says what a token of the environment is for.
  if (own === undefined && organizationId(chosen) !== undefined) return chosen;
  const all = await organizationsOf(client, { signal: interrupt.asked });
  const wanted = organizationNamed(all, chosen);
  if (own === undefined || wanted.uuid === own) return wanted.uuid;
  throw new CommandError(
    'other_organization',
    `The settings name the organization ${shownOrganization(wanted)}, and this login is for ${shownById(all, own)}.`,
    exitCodes.notLoggedIn,
    `Log in for it: ${loginCommand(settings)} --org ${wanted.uuid}\nOr see where the setting comes from: sallyport config list --show-origin`,
  );
}

/**
 * What cannot be sent within a second of the command's end goes out with the next command. A bridge runs for weeks: whether
 * telemetry was turned off meanwhile is looked up at each event.
 */
function telemetry(context: Context, clientOptions: ClientOptions): Reporter {
  const batcher = new TelemetryBatcher({ ...clientOptions, ...telemetryOptions(context) });
  context.onEnd(async () => {
    await batcher.shutdown(1000);
  });
  return {
    report(event) {
      if (isTelemetryOn(context)) batcher.report(event);
    },
  };
}

/** Of a token from the environment: what the service says of it, or its account's only one where it may not ask. */
async function tokensOrganization(client: Client, signal: AbortSignal): Promise<string> {
  const profile = await client.oauth.profile({ signal }).catch((error: unknown) => {
    if (error instanceof ServiceError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  });
  return profile?.organization.uuid ?? (await onlyOrganization(client, signal));
}

async function onlyOrganization(client: Client, signal: AbortSignal): Promise<string> {
  const [first, ...others] = await organizationsOf(client, { signal });
  if (first === undefined) {
    throw new CommandError(
      'token_refused',
      'The token in SALLYPORT_TOKEN is of no account here, or has expired.',
      exitCodes.notLoggedIn,
      'Set SALLYPORT_TOKEN to a valid token, or unset it and run `sallyport login`.',
    );
  }
  if (others.length > 0) {
    throw new CommandError(
      'organization_required',
      `The account belongs to several organizations: ${[first, ...others].map(shownOrganization).join(', ')}.`,
      exitCodes.usage,
      'Name one: sallyport org use NAME, or in SALLYPORT_ORG.',
    );
  }
  return first.uuid;
}

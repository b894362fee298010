import { join } from 'node:path';
import type { Reporter, TokenSource } from '@sallyport/core';
import { createClient, undiciTransport, type Client, type ClientOptions } from '@sallyport/core/client';
import { environmentToken, fileTokenStore, TokenProvider, type TokenStore } from '@sallyport/oauth';
import { TelemetryBatcher } from '@sallyport/telemetry';
import type { Context } from './context.ts';
import { loginRequired } from './known-logins.ts';
import type { Settings } from './config/settings.ts';
import { CommandError, exitCodes } from './io/exit.ts';
import { version } from './version.ts';

/** The gateway as the person's login sees it. */
export interface Connection {
  readonly clientOptions: ClientOptions;
  readonly client: Client;
  readonly tokens: TokenSource;
  readonly organizationId: string;
  readonly reporter: Reporter;
  readonly store: TokenStore;
  /** The login's key in the store. */
  readonly loginKey: string;
}

/** How the gateway is reached, logged in or not. */
export function reach(context: Context): Omit<ClientOptions, 'tokens'> {
  const transport = undiciTransport();
  context.onEnd(() => transport.close());
  const { baseUrl, dialect } = context.settings;
  const headers = { 'user-agent': `sallyport/${version}` };
  return { baseUrl, dialect, transport, clock: context.clock, headers };
}

/** Where logins rest. One for each address: a token never goes to another gateway than the one that gave it. */
export function loginStore({ stateDir, baseUrl }: Settings): { store: TokenStore; loginKey: string } {
  return { store: fileTokenStore({ directory: join(stateDir, 'logins') }), loginKey: baseUrl };
}

/** The token of the environment, else of the stored login, renewed as needed. */
export function tokensOf({ env, settings }: Context, reached: ReturnType<typeof reach>): TokenSource {
  const { store, loginKey } = loginStore(settings);
  return environmentToken(env) ?? new TokenProvider({ ...reached, store, key: loginKey });
}

/** Connects with the token of the environment or the stored login. Throws `LoginError` `login_required` without one. */
export async function connect(context: Context): Promise<Connection> {
  const reached = reach(context);
  const { store, loginKey } = loginStore(context.settings);
  const tokens = tokensOf(context, reached);
  const clientOptions: ClientOptions = { ...reached, tokens };
  const client = createClient(clientOptions);
  // Asked for first, so that a missing login is what the person is told.
  await tokens.token({ signal: context.interrupt.asked }).catch(async (error: unknown) => {
    throw await loginRequired(context.settings, error);
  });
  const stored = context.settings.token === undefined ? await store.load(loginKey) : undefined;
  const chosen = context.settings.organizationId;
  if (stored?.organizationId !== undefined && chosen !== undefined && chosen !== stored.organizationId)
    await requireMembership(client, chosen);
  const organizationId = chosen ?? stored?.organizationId ?? (await onlyOrganization(client));
  const reporter = telemetry(context, clientOptions);
  return { clientOptions, client, tokens, organizationId, reporter, store, loginKey };
}

/** What cannot be sent within a second of the command's end goes out with the next command. */
function telemetry(context: Context, clientOptions: ClientOptions): Reporter {
  const batcher = new TelemetryBatcher({
    ...clientOptions,
    serviceName: 'agent_cli',
    serviceVersion: version,
    spoolDir: join(context.settings.stateDir, 'telemetry'),
    env: context.env,
    random: context.random,
  });
  context.onEnd(async () => {
    await batcher.shutdown(1000);
  });
  return batcher;
}

/** The organization of the settings may be of another gateway, or of another account. */
async function requireMembership(client: Client, organizationId: string): Promise<void> {
  const { account } = await client.account.bootstrap();
  const own = account.memberships.map(({ organization }) => organization.uuid);
  if (own.includes(organizationId)) return;
  throw new CommandError(
    'unknown_organization',
    `This login has no membership in the organization ${organizationId} that the settings name.`,
    exitCodes.notLoggedIn,
    `It has one in ${own.join(', ') || 'none'}. See where the setting comes from: sallyport config list --show-origin`,
  );
}

async function onlyOrganization(client: Client): Promise<string> {
  const { account } = await client.account.bootstrap();
  const [first, ...others] = account.memberships.map(({ organization }) => organization.uuid);
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
      `The account belongs to several organizations: ${[first, ...others].join(', ')}.`,
      exitCodes.usage,
      'Name one: sallyport config set organization UUID, or in SALLYPORT_ORG.',
    );
  }
  return first;
}

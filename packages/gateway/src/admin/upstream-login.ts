import { toTimestamp, TransportError } from '@sallyport/core';
import { LoginError, loginWithDevice, logout, revokeLogin, storeLogin } from '@sallyport/oauth';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema.ts';
import { upstreamLogins, upstreamTransport } from '../passthrough/upstream-login.ts';
import { configOf } from './config-of.ts';
import { ExplainedError } from './failure.ts';
import type { ConfigFlags } from './flags.ts';

/** `admin upstream login`: the gateway's own login at its upstream, approved by a person in any browser (RFC 8628). */
export async function loginUpstream(flags: ConfigFlags): Promise<void> {
  const { config } = configOf(flags);
  const baseUrl = addressOf(config);
  const store = upstreamLogins(config);
  // Before a person is sent to approve what then could not be kept.
  await store.probe(baseUrl);
  const transport = upstreamTransport(config);
  try {
    const reached = { baseUrl, transport, dialect: config.dialect };
    const login = await loginWithDevice({
      ...reached,
      onPrompt: ({ verification_uri: uri, user_code: code }) =>
        void process.stderr.write(
          `Open ${printable(uri)} in a browser and enter the code ${printable(code)}\n`,
        ),
    });
    const { stored, replaced } = await storeLogin(store, baseUrl, login);
    const { organizationId, expiresAt } = stored;
    const record = { upstream: baseUrl, organization: organizationId, expires_at: toTimestamp(expiresAt) };
    process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
    // Nobody could end it any more: its tokens are gone from here.
    if (replaced) await revokeLogin({ ...reached, clientId: replaced.clientId }, replaced).catch(sayNotEnded);
    if (!config.upstream.login)
      process.stderr.write('It is used once upstream.login is true (and upstream.credential is not set).\n');
  } catch (cause) {
    if (cause instanceof LoginError || cause instanceof TransportError)
      throw new ExplainedError(cause.message, { cause });
    throw cause;
  } finally {
    await transport.close();
  }
}

/** `admin upstream logout`: ends it there, and removes it here. */
export async function logoutUpstream(flags: ConfigFlags): Promise<void> {
  const { config } = configOf(flags);
  const baseUrl = addressOf(config);
  const transport = upstreamTransport(config);
  try {
    const { removed, failure } = await logout({
      store: upstreamLogins(config),
      key: baseUrl,
      transport,
      dialect: config.dialect,
    });
    process.stdout.write(`${JSON.stringify({ upstream: baseUrl, removed }, null, 2)}\n`);
    if (failure) process.stderr.write(`The upstream was not told: ${failure.message}\n`);
  } finally {
    await transport.close();
  }
}

function sayNotEnded({ message }: Error): void {
  process.stderr.write(
    `The login from before could not be ended, and holds at the upstream until it expires: ${message}\n`,
  );
}

function addressOf({ upstream }: Config): string {
  if (upstream.url !== undefined) return upstream.url;
  throw new ConfigError('There is no upstream to log in at: set upstream to its address.');
}

/** What an upstream sends cannot steer the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

import { printable, ServiceError, toTimestamp, TransportError } from '@sallyport/core';
import { gatewayClient } from '@sallyport/core/contract';
import {
  LoginError,
  loginWithDevice,
  logout,
  revokeLogin,
  storeLogin,
  type Credentials,
  type DeviceLogin,
} from '@sallyport/oauth';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema.ts';
import { configuredUpstreams, type ConfiguredUpstream } from '../config/upstreams.ts';
import { upstreamLogins, upstreamTransport } from '../passthrough/upstream-login.ts';
import { configOf } from './config-of.ts';
import { ExplainedError } from './failure.ts';
import type { ConfigFlags } from './flags.ts';
import { printJson } from './print.ts';

/** `admin upstream login`: the gateway's own login at an upstream, approved by a person in any browser (RFC 8628). */
export async function loginUpstream(name: string | undefined, flags: ConfigFlags): Promise<void> {
  const { config } = configOf(flags);
  const upstream = upstreamNamed(config, name);
  const { key, url: baseUrl } = upstream;
  const store = upstreamLogins(config);
  // Before a person is sent to approve what then could not be kept.
  await store.probe(baseUrl);
  const transport = upstreamTransport(config, upstream);
  try {
    const reached = { baseUrl, transport, dialect: config.dialect };
    const login = await logIn(reached);
    const { stored, replaced } = await storeLogin(store, baseUrl, login);
    const { organizationId, expiresAt } = stored;
    const record = { upstream: baseUrl, organization: organizationId, expires_at: toTimestamp(expiresAt) };
    printJson(record);
    // Nobody could end it any more: its tokens are gone from here.
    if (replaced) await revokeLogin({ ...reached, clientId: replaced.clientId }, replaced).catch(sayNotEnded);
    if (!upstream.login)
      process.stderr.write(`It is used once ${key}.login is true (and ${key}.credential is not set).\n`);
  } catch (cause) {
    if (cause instanceof LoginError || cause instanceof TransportError)
      throw new ExplainedError(explained(cause.message, upstream), { cause });
    throw cause;
  } finally {
    await transport.close();
  }
}

/** By the name of a gateway; by that of the command line at an upstream that knows no other of ours. */
async function logIn(reached: Omit<DeviceLogin, 'onPrompt'>): Promise<Credentials> {
  const onPrompt: DeviceLogin['onPrompt'] = ({ verification_uri: uri, user_code: code }) =>
    void process.stderr.write(`Open ${printable(uri)} in a browser and enter the code ${printable(code)}\n`);
  return loginWithDevice({ ...reached, clientId: gatewayClient.id, onPrompt }).catch((error: unknown) => {
    const isUnknown = error instanceof ServiceError && /^(invalid|unauthorized)_client$/.test(error.code);
    if (isUnknown) return loginWithDevice({ ...reached, onPrompt });
    throw error;
  });
}

/** Of an upstream that is shown something else, it may be no login that is wanted. */
function explained(message: string, { key, login }: ConfiguredUpstream): string {
  if (login) return message;
  return `${message} An upstream that is shown ${key}.credential needs no login: one is used where ${key}.login is true.`;
}

/** `admin upstream logout`: ends it there, and removes it here. */
export async function logoutUpstream(name: string | undefined, flags: ConfigFlags): Promise<void> {
  const { config } = configOf(flags);
  const upstream = upstreamNamed(config, name);
  const transport = upstreamTransport(config, upstream);
  try {
    const { removed, failure } = await logout({
      store: upstreamLogins(config),
      key: upstream.url,
      transport,
      dialect: config.dialect,
    });
    printJson({ upstream: upstream.url, removed });
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

/** By the area whose own it is; without a name, the one for all if it may be that, or the only one. */
function upstreamNamed(config: Config, name: string | undefined): ConfiguredUpstream {
  const all = configuredUpstreams(config);
  const [first] = all;
  if (first === undefined)
    throw new ConfigError('There is no upstream to log in at: set upstream to its address.');
  const names = all.map((one) => one.name ?? 'upstream').join(', ');
  if (name !== undefined) {
    const found = all.find((one) => name === (one.name ?? 'upstream'));
    if (found) return found;
    throw new ConfigError(`There is no upstream by the name of ${name}: it must be one of ${names}.`);
  }
  const loggedIn = all.filter(({ login }) => login);
  const meant = loggedIn.length > 0 ? loggedIn : all;
  const isOne = new Set(meant.map(({ url }) => url)).size === 1;
  if (meant[0] && (isOne || meant[0].name === undefined)) return meant[0];
  throw new ConfigError(`There is more than one upstream: say at which to log in, one of ${names}.`);
}

import { ServiceError, sleep, systemClock, TransportError } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import {
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  None,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
} from 'oauth4webapi';
import type { Credentials } from '../store/token-store.ts';
import { parseNamedAddress } from './address.ts';
import { identified, toCredentials } from './credentials.ts';
import { defaultScope, discover, type DiscoveredServer } from './discovery.ts';
import { interruptible } from './interruption.ts';
import { LoginError } from './login-error.ts';
import { judged, requestOptions, type OAuthOptions } from './oauth-fetch.ts';

/** What the person needs (RFC 8628 3.2). */
export interface DevicePrompt {
  readonly user_code: string;
  readonly verification_uri: string;
  /** The same with the code filled in, for a link or a QR code. */
  readonly verification_uri_complete?: string;
  /** Epoch milliseconds of this machine's clock. */
  readonly expiresAt: number;
}

/** A device authorization under way. Keep it to yourself: it holds the device code. */
export interface PendingDevice {
  readonly prompt: DevicePrompt;
  readonly deviceCode: string;
  readonly intervalMs: number;
  readonly scope: string;
}

export interface DeviceLogin extends OAuthOptions {
  /** Shows the code and the address; the polling begins when that is done. */
  readonly onPrompt: (prompt: DevicePrompt) => Promise<void> | void;
  readonly scope?: string;
  readonly signal?: AbortSignal;
}

/** RFC 8628 3.2 and 3.5: the interval where the server names none, and what each `slow_down` adds to it. */
const defaultIntervalMs = 5_000;
/** A server that does not answer is asked less and less often, down to this (RFC 8628 3.5 asks for backoff). */
const longestBackoffMs = 60_000;

/**
 * Logs in on a machine without a browser: shows a code that the person enters on any other one (RFC 8628).
 * A network that fails for a while does not end it. Throws `LoginError` `denied`, `expired`, `aborted`, `unsupported`.
 *
 * @example
 * const login = await loginWithDevice({ baseUrl, transport: undiciTransport(), onPrompt: ({ verification_uri, user_code }) =>
 *   console.error(`Open ${verification_uri} and enter ${user_code}`) });
 */
export function loginWithDevice(login: DeviceLogin): Promise<Credentials> {
  const { signal, scope } = login;
  return interruptible(signal, async () => {
    const server = await discover(login, signal);
    const pending = await beginDevice(server, { scope, signal });
    await login.onPrompt(pending.prompt);
    return awaitDevice(server, pending, signal);
  });
}

/** Asks for a device code and a user code. */
export async function beginDevice(
  server: DiscoveredServer,
  {
    scope = defaultScope(server.options),
    signal,
  }: { scope?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<PendingDevice> {
  const { options, metadata, client } = server;
  const requestedAt = (options.clock ?? systemClock).now();
  const answer = await judged(options.baseUrl, async () => {
    const call = requestOptions(options, contract.oauth.deviceAuthorization, { signal });
    const response = await deviceAuthorizationRequest(metadata, client, None(), { scope }, call);
    return processDeviceAuthorizationResponse(metadata, client, response);
  });
  const { user_code, verification_uri, verification_uri_complete } = answer;
  parseNamedAddress(verification_uri, options.baseUrl);
  if (verification_uri_complete !== undefined) parseNamedAddress(verification_uri_complete, options.baseUrl);
  return {
    prompt: {
      user_code,
      verification_uri,
      ...(verification_uri_complete !== undefined && { verification_uri_complete }),
      expiresAt: requestedAt + answer.expires_in * 1000,
    },
    deviceCode: answer.device_code,
    intervalMs: answer.interval === undefined ? defaultIntervalMs : answer.interval * 1000,
    scope,
  };
}

/**
 * Polls until the person has decided. The wall clock counts towards the expiry, so a machine that slept through it asks
 * once more and gives up: the server may still hand out what was approved in the last seconds.
 */
export async function awaitDevice(
  server: DiscoveredServer,
  pending: PendingDevice,
  signal?: AbortSignal,
): Promise<Credentials> {
  const { clock = systemClock } = server.options;
  const { expiresAt } = pending.prompt;
  let intervalMs = pending.intervalMs;
  let pauseMs = intervalMs;
  for (;;) {
    const leftMs = expiresAt - clock.now();
    await sleep(clock, Math.max(intervalMs, Math.min(pauseMs, leftMs)), signal);
    try {
      return await poll(server, pending, signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error instanceof ServiceError && error.code === 'slow_down') {
        intervalMs = slower(intervalMs, error);
        pauseMs = Math.max(intervalMs, error.retryAfterMs ?? 0);
      } else if (error instanceof ServiceError && error.code === 'authorization_pending') {
        pauseMs = intervalMs;
      } else if (isPassing(error)) {
        const toldMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
        pauseMs = Math.max(toldMs, Math.min(longestBackoffMs, pauseMs * 2));
      } else throw ended(error);
    }
    if (clock.now() >= expiresAt) throw new LoginError('expired', 'The code was not approved in time.');
  }
}

async function poll(server: DiscoveredServer, { deviceCode, scope }: PendingDevice, signal?: AbortSignal) {
  const { options, metadata, client } = server;
  const requestedAt = (options.clock ?? systemClock).now();
  const answer = await judged(options.baseUrl, async () => {
    const call = requestOptions(options, contract.oauth.token, { signal, retry: false });
    const response = await deviceCodeGrantRequest(metadata, client, None(), deviceCode, call);
    return processDeviceCodeResponse(metadata, client, response);
  });
  return identified(options, toCredentials(server, answer, { scope }, requestedAt), signal);
}

/** The new interval holds for all later polls (RFC 8628 3.5); a server that names one is taken at its word if it is longer. */
function slower(intervalMs: number, { details }: ServiceError): number {
  const named = typeof details['interval'] === 'number' ? details['interval'] * 1000 : 0;
  return Math.max(intervalMs + defaultIntervalMs, named);
}

function isPassing(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status === 429 || error.status >= 500;
  return error instanceof TransportError;
}

function ended(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === 'access_denied')
    return new LoginError('denied', 'The request was denied.', { cause: error });
  if (error.code === 'expired_token') {
    return new LoginError('expired', 'The code was not approved in time.', { cause: error });
  }
  return error;
}

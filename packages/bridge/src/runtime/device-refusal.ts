import { ServiceError } from '@sallyport/core';
import { judgeFailure } from './failure.ts';
import { RuntimeError } from './runtime-error.ts';

/** How a refusal names the header with this device's token. */
const deviceTokenPath = 'headers/x-trusted-device-token';

/**
 * Whether a new token for this device may help: a 401 may be about it and not about the login, whatever the source of tokens
 * says of that; a 403 is about what the account may do, unless it says otherwise.
 */
export function isPerhapsDevices(error: unknown): boolean {
  const { kind } = judgeFailure(error);
  return kind === 'login_required' || (kind === 'refused' && isAboutDevice(error));
}

/** Of a 400: each registration has that header, so it has been taken away on the way. */
export function isAboutDevice(error: unknown): boolean {
  return error instanceof ServiceError && error.issues.some(({ path }) => path === deviceTokenPath);
}

export function deviceTokenWithheld(cause: ServiceError): RuntimeError {
  return new RuntimeError(
    'device_token_withheld',
    'The token of this device does not reach the service that bridges register with: a gateway in front of it keeps accounts and devices of its own. Whoever runs that gateway should set `areas.bridge` to local, or `areas.oauth` to upstream; `sallyport-gateway doctor` says more.',
    { cause },
  );
}

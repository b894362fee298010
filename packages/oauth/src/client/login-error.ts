/**
 * Every way in which a login fails or cannot be used, with what the person can do about it: the one table.
 * A code is stable; users match on it.
 */
export const loginNextSteps = {
  denied: 'Log in again and approve the request, if it was yours.',
  expired: 'Log in again, and approve within the time shown.',
  state_mismatch: 'Nothing was stored; log in again from a fresh browser window.',
  issuer_mismatch:
    'Log in at the address that the service goes by, or have its operator set that one (`publicUrl`).',
  timed_out: 'Log in again, or use the device flow.',
  aborted: 'Nothing was stored.',
  browser_failed: 'Use the device flow on a machine without a browser.',
  unsupported: 'Use another way to log in, or ask the operator of the service.',
  insecure_address: 'Use https, or allow plain http for this address explicitly.',
  invalid_address: 'Give an address such as http://127.0.0.1:8787.',
  no_organization: 'Ask an administrator to add the account to an organization.',
  organization_required: 'Name one of them.',
  login_required: 'Log in.',
  other_organization: 'Log in again for the organization that this program began with.',
  token_refused: 'Set it to a valid token, or unset it to use the stored login.',
  store_locked: 'Try again when the other process is done.',
  store_corrupt: 'Log out, or move the file away, and log in again.',
  store_newer: 'Use that release, or log in again here.',
  store_full: 'Make room on that disk, and try again.',
  keychain_failed: 'Unlock the keychain, or log in again and keep the login in a file.',
  store_failed: 'Make the folder readable and writable for this account.',
} as const;

export type LoginErrorCode = keyof typeof loginNextSteps;

/**
 * A login that failed on this side, or that a person must renew. Its message ends with the next step.
 * What the service itself refuses is a `ServiceError`, what the network does a `TransportError`.
 */
export class LoginError extends Error {
  override readonly name = 'LoginError';
  readonly code: LoginErrorCode;

  constructor(code: LoginErrorCode, what: string, options?: { cause?: unknown }) {
    super(`${what} ${loginNextSteps[code]}`, options);
    this.code = code;
  }
}

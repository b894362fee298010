import type { ServiceError } from '@sallyport/core';
import { span } from './span.ts';

/** What the refused call was made with. */
type Credential = 'login' | 'token' | 'key';

/** Only a stored login is the command line's to renew. */
const byCredential: Readonly<Record<string, Readonly<Record<Credential, string>>>> = {
  invalid_token: {
    login: 'Log in again with `sallyport login`.',
    token: 'Set SALLYPORT_TOKEN to a valid token, or unset it to use the stored login.',
    key: 'Set SALLYPORT_TOKEN to a valid token, or unset it to use the stored login.',
  },
  insufficient_scope: {
    login: 'Log in again with `sallyport login`, or take a token with that scope.',
    token: 'Set SALLYPORT_TOKEN to a token with that scope, or unset it to use the stored login.',
    key: 'Unset SALLYPORT_TOKEN to use the stored login; with that, `sallyport keys create --scope SCOPE` makes a key that has it.',
  },
};

const byCode: Readonly<Record<string, string>> = {
  beta_not_enabled: 'The gateway may speak another dialect: see `sallyport config list`.',
  zdr_org: 'Whoever runs the gateway decides what the organization keeps.',
  quota_exceeded: 'See what there is: sallyport session list. The operator of the gateway sets the limit.',
  session_ended: 'Start another one: sallyport session run "..."',
  environment_deleted: 'See which there are: sallyport env list',
  already_archived: 'See how it stands: sallyport env get ID',
  device_revoked: 'Trust this machine anew: sallyport device trust',
  invalid_grant: 'Log in again with `sallyport login`.',
  store_unavailable: 'Whoever runs the gateway should look at its disk; then try again.',
  upstream_unreachable: 'If it stays so, whoever runs the gateway sees why with `sallyport-gateway doctor`.',
};

/** By the `quota` that `quota_exceeded` names. */
const byQuota: Readonly<Record<string, string>> = {
  trusted_devices: 'See them with `sallyport device list`, and revoke some: sallyport device revoke ID',
  api_keys: 'See them with `sallyport keys list`, and revoke some: sallyport keys revoke ID',
};

/** Where the service says which permission is missing. */
const otherRole =
  'An admin of the organization can give this account another role; `sallyport roles` shows what each may do.';

const otherRelease = 'The gateway may be of another release: compare its version with `sallyport --version`.';
const sendLess = 'Send less at once; whoever runs the gateway sets the limit.';

const byStatus: Readonly<Record<number, string>> = {
  400: 'See what the command takes with --help.',
  403: 'See which account this is with `sallyport whoami`; its organization has admins who may do more.',
  404: 'Check the id, and with `sallyport whoami` the gateway and the organization.',
  405: otherRelease,
  409: 'Look at how it stands by now, and try again.',
  413: sendLess,
  414: sendLess,
  415: otherRelease,
  429: 'Try again in a moment.',
  431: sendLess,
  501: 'This gateway does not serve it; its operator says which one does.',
};

/** What a person can do after a refusal of the service. */
export function adviceFor(error: ServiceError, env: NodeJS.ProcessEnv): string {
  const { code, status, requestId, details, retryAfterMs } = error;
  const advice =
    byCredential[status === 401 && code !== 'device_revoked' ? 'invalid_token' : code]?.[credentialOf(env)];
  if (status === 429 && retryAfterMs !== undefined) return `Try again in ${span(retryAfterMs, Math.ceil)}.`;
  const known =
    advice ??
    byQuota[String(details['quota'])] ??
    (code === 'forbidden' && typeof details['permission'] === 'string' ? otherRole : undefined) ??
    byCode[code] ??
    byStatus[status];
  if (known !== undefined) return known;
  if (status >= 502) return 'Try again in a moment.';
  return `The gateway's log knows more${requestId === undefined ? '' : ` under ${requestId}`}.`;
}

function credentialOf({ SALLYPORT_TOKEN: token = '' }: NodeJS.ProcessEnv): Credential {
  if (token.trim() === '') return 'login';
  return isApiKey(token.trim()) ? 'key' : 'token';
}

export function isApiKey(token: string): boolean {
  return token.startsWith('sk-');
}

import type { ServiceError } from '@sallyport/core';

const byCode: Readonly<Record<string, string>> = {
  insufficient_scope: 'Log in again with `sallyport login`, or take a token with that scope.',
  beta_not_enabled: 'The gateway may speak another dialect: see `sallyport config list`.',
  zdr_org: 'An admin of the organization decides what it keeps.',
  quota_exceeded: 'See what there is: sallyport session list. The operator of the gateway sets the limit.',
  session_ended: 'Start another one: sallyport session run "..."',
  environment_deleted: 'See which there are: sallyport env list',
  store_unavailable: 'Whoever runs the gateway should look at its disk; then try again.',
  upstream_unreachable: 'If it stays so, whoever runs the gateway sees why with `sallyport-gateway doctor`.',
};

const byStatus: Readonly<Record<number, string>> = {
  403: 'See which account this is with `sallyport whoami`; its organization has admins who may do more.',
  404: 'Check the id, and with `sallyport whoami` the gateway and the organization.',
  409: 'Look at how it stands by now, and try again.',
  429: 'Try again in a moment.',
};

/** What a person can do after a refusal of the service; `undefined`: its own sentence says all that is known. */
export function adviceFor({ code, status, requestId }: ServiceError): string | undefined {
  const known = byCode[code] ?? byStatus[status];
  if (known !== undefined || status < 500) return known;
  if (status > 501) return 'Try again in a moment.';
  return requestId === undefined
    ? "The gateway's log knows more."
    : `The gateway's log knows more under ${requestId}.`;
}

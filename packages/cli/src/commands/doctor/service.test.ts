import { TransportError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { unreachable } from './service.ts';

test.each([
  ['CERT_HAS_EXPIRED', 'its certificate has expired: whoever runs it has to renew it'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host: use the name that it was made for'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed: trust its authority with X=FILE'],
])('what to do about %s is said once, and nothing that would not help', (code, says) => {
  const cause = Object.assign(new Error(code), { code });
  const { status, fix } = unreachable(new TransportError('insecure', says, { cause }));
  expect([status, fix]).toEqual(['fail', expect.stringMatching(/^Check the address: /)]);
});

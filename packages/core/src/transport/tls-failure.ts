const authority =
  'trust its authority with NODE_EXTRA_CA_CERTS=FILE, or NODE_USE_SYSTEM_CA=1 where this system trusts it';

/** OpenSSL's verdicts on a certificate, and Node's own on its names. */
const certificates: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired: whoever runs it has to renew it',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: look at the clock of this machine',
  CERT_REVOKED: 'its certificate has been revoked: whoever runs it has to renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed: ${authority}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is of an authority unknown here: ${authority}`,
  UNABLE_TO_GET_ISSUER_CERT: `its certificate is of an authority unknown here: ${authority}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is of an authority unknown here: ${authority}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate cannot be verified: ${authority}`,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host: use the name that it was made for',
  HOSTNAME_MISMATCH: 'its certificate is for another host: use the name that it was made for',
};

/** What a server says that answers TLS with something else: plain HTTP, mostly. */
const noTls =
  /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL))$/;

/** Why no secure connection came about, by the error's code, as a sentence; `undefined` for what is no fault of TLS. */
export function tlsFailure(code: string, origin: string): string | undefined {
  const certificate = certificates[code];
  if (certificate !== undefined) return `${origin} cannot be trusted: ${certificate}`;
  if (noTls.test(code)) return `${origin} does not speak TLS; is it ${origin.replace(/^https:/, 'http:')}?`;
  if (!/^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE)/.test(code)) return undefined;
  return `${origin} and this machine cannot agree on a secure connection (${code})`;
}

import 'reflect-metadata'; // asked for by @peculiar/x509
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const makeKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** An authority that nobody knows. */
export interface Authority {
  /** Its own certificate, in PEM form. */
  readonly ca: string;
  /** A certificate by it for an address, and the key. */
  issue(ip?: string): Promise<{ readonly cert: string; readonly key: string }>;
}

export async function createAuthority(name = 'Private CA'): Promise<Authority> {
  x509.cryptoProvider.set(crypto);
  const keys = await makeKeys();
  const notBefore = new Date(Date.now() - 3_600_000);
  const notAfter = new Date(Date.now() + 86_400_000);
  const validity = { signingAlgorithm: algorithm, notBefore, notAfter };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    ...validity,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  return {
    ca: root.toString('pem'),
    async issue(ip = '127.0.0.1') {
      const server = await makeKeys();
      const leaf = await x509.X509CertificateGenerator.create({
        subject: 'CN=upstream',
        issuer: root.subject,
        signingKey: keys.privateKey,
        publicKey: server.publicKey,
        ...validity,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: ip }])],
      });
      const key = await crypto.subtle.exportKey('pkcs8', server.privateKey);
      return { cert: leaf.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
    },
  };
}

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { transportFailure } from './failure.ts';
import { fetchTransport } from './fetch.ts';
import { http1Transport } from './http1.ts';
import { undiciTransport } from './undici.ts';

test.each([
  ['http1', () => http1Transport({ proxyFromEnvironment: false })],
  ['undici', () => undiciTransport({ proxyFromEnvironment: false })],
  ['fetch', () => fetchTransport()],
] as const)('%s: a server without TLS is named, with the address that it may have', async (_, make) => {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = make();
  const request = { method: 'GET', url: `https://127.0.0.1:${port}/x`, headers: {}, timeoutMs: 5000 };
  await expect(transport.send(request)).rejects.toMatchObject({
    code: 'insecure',
    message: `https://127.0.0.1:${port} does not speak TLS; is it http://127.0.0.1:${port}?`,
  });
  await transport.close();
  server.close();
});

test.each([
  ['CERT_HAS_EXPIRED', 'expired'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host'],
  ['ERR_SSL_NO_CIPHER_MATCH', 'agree on a secure connection (ERR_SSL_NO_CIPHER_MATCH)'],
])('%s is a sentence on one line', (code, words) => {
  const cause = Object.assign(new Error('40C7:error:0A00:SSL routines\n'), { code });
  const failure = transportFailure(new TypeError('fetch failed', { cause }), 'https://a.example/x');
  expect(failure).toMatchObject({ code: 'insecure' });
  expect(failure.message).toContain(words);
  expect(failure.message).not.toContain('\n');
});

test('what has no words of its own is told on one line', () => {
  const failure = transportFailure(new Error('C0:error\n'), 'https://a.example/x');
  expect(failure.message).toBe('https://a.example cannot be reached: C0:error');
});

import { expect, test } from 'vitest';
import { createTraffic } from '../../src/metrics/traffic.ts';
import { openOverHttp } from './over-http.ts';

const wellKnown = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

test('an issuer with a path is found where RFC 8414 3.1 puts it', async () => {
  await using opened = await openOverHttp({}, { issuer: 'https://example.com/tools/gate/' });
  for (const path of wellKnown) {
    const answer = await opened.call('GET', `${path}/tools/gate`, { origin: 'https://app.example' });
    expect(answer.json()).toMatchObject({
      issuer: 'https://example.com/tools/gate',
      token_endpoint: 'https://example.com/tools/gate/v1/oauth/token',
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const etag = answer.headers.get('etag') ?? '';
    expect((await opened.call('GET', `${path}/tools/gate`, { 'if-none-match': etag })).status).toBe(304);
    expect((await opened.call('GET', path)).status).toBe(200);
    expect((await opened.call('HEAD', `${path}/tools/gate`)).status).toBe(200);
    expect((await opened.call('POST', `${path}/tools/gate`)).headers.get('allow')).toBe('GET, HEAD');
    expect((await opened.call('GET', `${path}/tools`)).status).toBe(404);
  }
});

test('what comes there counts as what comes to the row, once each', async () => {
  const traffic = createTraffic();
  await using opened = await openOverHttp({}, { issuer: 'https://example.com/gate' }, { traffic });
  for (const path of wellKnown)
    for (const headers of [{}, { 'if-none-match': '"x"' }])
      for (const url of [path, `${path}/gate`]) await opened.call('GET', url, headers);
  const counted = () =>
    [...traffic.meters]
      .filter(({ requests }) => requests.some((count) => count > 0))
      .map(({ labels, requests, inFlight }) => [labels.row, requests[1], inFlight])
      .sort();
  await expect.poll(counted).toEqual([
    ['oauth.discovery', 4, 0],
    ['oauth.openidConfiguration', 4, 0],
  ]);
});

test('one without a path is nowhere else', async () => {
  await using opened = await openOverHttp();
  for (const path of wellKnown) expect((await opened.call('GET', `${path}/x`)).status).toBe(404);
});

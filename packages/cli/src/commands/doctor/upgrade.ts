import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { inDialect, neutralDialect } from '@sallyport/core';
import { endpointUrl } from '@sallyport/core/client';
import { contract, headerNames, workerVersion } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { fail, ok, warn, type Finding } from './finding.ts';
import { patienceMs, type Reached } from './service.ts';

const fix =
  'Let what stands between pass WebSockets on; nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";';

/**
 * Asks for a worker's stream without a credential, straight, as a bridge does. The gateway refuses, and says with
 * `Sec-WebSocket-Version` (RFC 6455 4.4) that it was asked for a WebSocket: a proxy that takes `Upgrade` away would
 * else go unseen, for the refusal is the same.
 */
export async function upgrade(
  { interrupt, random }: Context,
  { baseUrl, dialect = neutralDialect }: Reached,
  isGateway: boolean,
): Promise<Finding> {
  const url = endpointUrl(baseUrl, contract.worker.stream, { params: { id: 'doctor' } }, dialect);
  const request = (url.startsWith('https:') ? requestHttps : requestHttp)(url, {
    agent: false,
    signal: interrupt.asked,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.from(random.bytes(16)).toString('base64'),
      [inDialect(headerNames.version, dialect)]: workerVersion,
    },
  });
  request.setTimeout(patienceMs, () => request.destroy(new Error(`no answer within ${patienceMs / 1000} s`)));
  request.on('error', () => undefined); // also what comes after the answer
  request.once('upgrade', (_answer, socket) => socket.on('error', () => undefined).destroy());
  request.end();
  try {
    const [answer] = (await Promise.race([once(request, 'upgrade'), once(request, 'response')])) as [
      IncomingMessage,
    ];
    return judge(answer, isGateway);
  } catch (error) {
    interrupt.asked.throwIfAborted();
    return fail(`a WebSocket gets no answer: ${(error as Error).message}`, fix);
  } finally {
    request.destroy();
  }
}

function judge({ headers, statusCode = 0 }: IncomingMessage, isGateway: boolean): Finding {
  if (statusCode === 101 || headers['sec-websocket-version'] !== undefined)
    return ok('WebSockets reach the gateway');
  if (statusCode >= 502)
    return fail(
      `a WebSocket is answered ${statusCode}: what should serve it cannot be reached from there`,
      'See to what is behind it; where that is a gateway with an upstream: `sallyport-gateway doctor`.',
    );
  if (statusCode !== 401) return fail(`a WebSocket is answered ${statusCode} on its way`, fix);
  const says = 'the answer does not show that the upgrade came through';
  return isGateway ? fail(`something takes \`Upgrade\` away: ${says}`, fix) : warn(says, fix);
}

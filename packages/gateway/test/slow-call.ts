import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Endpoint } from '@sallyport/core/contract';
import { pastBeta, pathWithin, tokens } from './every-row.ts';

/** Calls a row; `meanwhile` runs when the caller is let in and its body has yet to come. Gives the answer's status. */
export async function slowCall(
  url: string,
  endpoint: Endpoint,
  meanwhile: () => Promise<void>,
): Promise<number | undefined> {
  const call = httpRequest(url + pathWithin(endpoint), {
    method: endpoint.method,
    headers: {
      ...pastBeta(endpoint),
      authorization: `Bearer ${tokens[endpoint.auth] ?? ''}`,
      'content-type': 'application/json',
      'content-length': '2',
      expect: '100-continue', // comes when the body is first read
    },
  });
  call.flushHeaders();
  await once(call, 'continue');
  await meanwhile();
  call.end('{}');
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

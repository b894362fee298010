import { TransportError } from '@sallyport/core';
import { callEndpoint, type CallOptions } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import type { Context } from './context.ts';
import type { Credentials } from './worker-credentials.ts';

/** Step 1. With the present credentials the epoch stays: a renewal, not a takeover. */
export async function obtainCredentials(
  { client, workerId, deriveIngressToken }: Context,
  sessionId: string,
  present?: Credentials,
  call: CallOptions = {},
): Promise<Credentials> {
  const answer: Readonly<Record<string, unknown>> = await client.worker.bridge({
    params: { id: sessionId },
    headers: {
      'vendor-worker-id': workerId,
      ...(present && { 'x-worker-token': present.workerJwt }),
    },
    ...call,
  });
  const { worker_jwt: workerJwt, api_base_url: apiBaseUrl, worker_epoch: epoch } = answer;
  if (typeof workerJwt !== 'string' || typeof apiBaseUrl !== 'string' || typeof epoch !== 'number')
    throw new TransportError('unexpected_answer', 'the handshake was answered without credentials');
  return { workerJwt, apiBaseUrl, epoch, ingressToken: deriveIngressToken(workerJwt) };
}

/** Step 2. */
export async function registerWorker(
  { clientOptions }: Context,
  sessionId: string,
  { apiBaseUrl, ingressToken }: Credentials,
  call: CallOptions = {},
): Promise<void> {
  await callEndpoint(
    { ...clientOptions, baseUrl: apiBaseUrl },
    contract.worker.register,
    { params: { id: sessionId } },
    { ...call, bearer: ingressToken },
  );
}

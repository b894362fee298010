import { TransportError } from '@sallyport/core';
import { send } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import type { Context } from './context.ts';

const answerGraceMs = 10_000;
const longestPauseMs = 60_000;

export interface PollAnswer {
  /** `undefined`: there is no work. */
  readonly body: unknown;
  /** A newer poll of this environment took the place of this one. */
  readonly isSuperseded: boolean;
  /** When the service wants to be asked next, where it says so. */
  readonly nextPollMs: number | undefined;
}

/** Asks once for work of the environment; `query.block_ms` is how long the service may hold the question. */
export async function poll(
  { clientOptions, workerId }: Context,
  environmentId: string,
  query: Readonly<Record<string, number | string>>,
  signal: AbortSignal,
): Promise<PollAnswer> {
  const answer = await send(
    clientOptions,
    contract.bridge.poll,
    { headers: { 'vendor-worker-id': workerId }, params: { env_id: environmentId }, query },
    { signal, timeoutMs: Number(query['block_ms'] ?? 0) + answerGraceMs },
  );
  const text = await answer.text();
  const nextPollMs = Number.parseInt(answer.headers['x-next-poll-ms'] ?? '', 10);
  return {
    body: text.trim() === '' ? undefined : parse(text),
    isSuperseded: answer.headers['x-poll-superseded'] === 'true',
    nextPollMs: nextPollMs >= 0 ? Math.min(nextPollMs, longestPauseMs) : undefined,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TransportError('unexpected_answer', 'the poll was answered with something other than JSON', {
      cause,
    });
  }
}

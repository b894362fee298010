import type { Poll, PollAnswer } from '@sallyport/bridge/server';
import type { GrantListener } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import type { Grants } from '@sallyport/oauth/server';
import type { FastifyReply } from 'fastify';
import { whenEnded, type EndListener, type Ending } from '../http/ending.ts';
import type { Caller } from '../http/callers.ts';

export interface HeldPollOptions {
  readonly caller: Pick<Caller, 'grantId' | 'tokenId' | 'since'>;
  readonly reply: FastifyReply;
  readonly grants: Grants;
}

/**
 * What a poll is answered with. It is left when its caller goes away before the answer is out, and when the caller may take
 * no work any more: the next poll is told so.
 */
export function answerOf(poll: Poll, options: HeldPollOptions): Promise<PollAnswer['work']> {
  const { reply } = options;
  const held = new HeldPoll(poll, options);
  whenEnded(reply.raw, held);
  return poll.answer.then(({ work, nextPollMs, isSuperseded }) => {
    reply.header('x-next-poll-ms', String(nextPollMs));
    if (isSuperseded) reply.header('x-poll-superseded', 'true');
    return work;
  }, held.refused);
}

class HeldPoll implements EndListener, GrantListener {
  readonly permission = contract.bridge.poll.permission;
  readonly tokenId: string | undefined;
  readonly #grantId: string;
  readonly #poll: Poll;
  readonly #reply: FastifyReply;
  readonly #grants: Grants;

  constructor(poll: Poll, { caller, reply, grants }: HeldPollOptions) {
    this.tokenId = caller.tokenId;
    this.#grantId = caller.grantId;
    this.#poll = poll;
    this.#reply = reply;
    this.#grants = grants;
    grants.watch(this.#grantId, this, caller.since);
  }

  /** Work must not wait for its delivery to lapse. */
  ended({ writableFinished }: Ending): void {
    this.#grants.unwatch(this.#grantId, this);
    if (!writableFinished) this.#leave();
  }

  /** Whoever is no member any more has no device either: that one is told of the login, by the next poll. */
  readonly refused = async (error: unknown): Promise<null> => {
    if (await this.#grants.stands(this.#grantId, this.permission)) throw error;
    return null;
  };

  revoked(): void {
    this.#leave();
  }

  #leave(): void {
    this.#poll
      .leave()
      .catch((error: unknown) => this.#reply.log.error({ err: error }, 'Work was not taken back.'));
  }
}

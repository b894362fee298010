import type { Poll, PollAnswer } from '@sallyport/bridge/server';
import type { FastifyReply } from 'fastify';
import { whenEnded, type EndListener, type Ending } from '../http/ending.ts';

/** What a poll is answered with; it is left when its caller goes away before the answer is out. */
export function answerOf(poll: Poll, reply: FastifyReply): Promise<PollAnswer['work']> {
  whenEnded(reply.raw, new HeldPoll(poll, reply));
  return poll.answer.then(({ work, nextPollMs, isSuperseded }) => {
    reply.header('x-next-poll-ms', String(nextPollMs));
    if (isSuperseded) reply.header('x-poll-superseded', 'true');
    return work;
  });
}

class HeldPoll implements EndListener {
  readonly #poll: Poll;
  readonly #reply: FastifyReply;

  constructor(poll: Poll, reply: FastifyReply) {
    this.#poll = poll;
    this.#reply = reply;
  }

  /** Work must not wait for its delivery to lapse. */
  ended({ writableFinished }: Ending): void {
    if (writableFinished) return;
    this.#poll
      .leave()
      .catch((error: unknown) => this.#reply.log.error({ err: error }, 'Work was not taken back.'));
  }
}

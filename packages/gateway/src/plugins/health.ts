import type { Clock } from '@sallyport/core';
import type { FastifyInstance } from 'fastify';
import type { Drain } from '../http/drain.ts';

/** Named questions to what the gateway depends on; each rejects when it does not answer. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

/** Named questions whose answer, a sentence, is something that an operator should see to; the gateway serves all the same. */
export type Warnings = Readonly<Record<string, () => Promise<string | undefined>>>;

/** What a check rejects with to say in a word what is wrong. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

const checkTimeoutMs = 2000;

/** `/healthz`: the process is alive. `/readyz`: it can serve; 503 while it drains or something does not answer, with what to see to before that happens. */
export function registerHealth(
  app: FastifyInstance,
  options: {
    readonly checks: Checks;
    readonly warnings: Warnings;
    readonly drain: Drain;
    readonly clock: Clock;
  },
): void {
  const { checks, warnings, drain, clock } = options;
  app.get('/healthz', { logLevel: 'silent' }, (_request, reply) => {
    void reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
  app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await answers(check, clock)] as const),
    );
    const failed = results.some(([, result]) => result !== 'ok');
    const status = drain.draining ? 'draining' : failed ? 'unavailable' : 'ready';
    void reply.code(status === 'ready' ? 200 : 503).header('cache-control', 'no-store');
    const given = await Promise.all(
      Object.entries(warnings).map(
        async ([name, ask]) => [name, await ask().catch(() => undefined)] as const,
      ),
    );
    const sentences = given.filter(([, sentence]) => sentence !== undefined);
    return {
      status,
      checks: Object.fromEntries(results),
      ...(sentences.length > 0 && { warnings: Object.fromEntries(sentences) }),
    };
  });
}

async function answers(check: () => Promise<void>, clock: Clock): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<'timed out'>();
  const timer = clock.after(checkTimeoutMs, () => resolve('timed out'));
  try {
    return await Promise.race([check().then(() => 'ok' as const), promise]);
  } catch (error) {
    return error instanceof NotReady ? error.message : 'failing';
  } finally {
    timer.cancel();
  }
}

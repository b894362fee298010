import { ServiceError } from '@sallyport/core';
import type { Context } from './context.ts';
import type { WorkerClaims, WorkerTokens } from './ports.ts';

/** How long a worker's stream may last: as long as the tokens that it shows, and a grace. */
export class TokenTerm {
  readonly #context: Context;
  readonly #tokens: WorkerTokens;
  /** Of the token that lasts longest. */
  #claims: WorkerClaims;
  #toldExpiry = false;

  constructor(context: Context, tokens: WorkerTokens, claims: WorkerClaims) {
    this.#context = context;
    this.#tokens = tokens;
    this.#claims = claims;
  }

  get claims(): WorkerClaims {
    return this.#claims;
  }

  /** Whether it is over, or about to be: that is said once. */
  due(): 'expired' | 'expiring' | undefined {
    const { clock, config } = this.#context;
    const leftMs = this.#claims.expiresAt - clock.now();
    if (leftMs <= -config.tokenGraceSeconds * 1000) return 'expired';
    if (this.#toldExpiry || leftMs > config.tokenNoticeSeconds * 1000) return undefined;
    this.#toldExpiry = true;
    return 'expiring';
  }

  /** Takes another token of the worker; gives whether it lasts longer. Rejects with why it does not hold here. */
  async renew(token: string): Promise<boolean> {
    const claims = await this.#tokens.verify(token);
    const { sessionId, epoch, expiresAt } = this.#claims;
    if (claims.sessionId !== sessionId || claims.epoch !== epoch)
      throw new ServiceError('invalid_token', 'The token is for another session or epoch.');
    if (claims.expiresAt <= expiresAt) return false;
    this.#claims = claims;
    this.#toldExpiry = false;
    return true;
  }
}

import type { Timer } from '@sallyport/core';
import type { OrganizationEnvironment, SessionEvent } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { printable } from '../../io/printable.ts';

/** The first pause is longer than a bridge that is there takes; the last one repeats. */
const pausesMs = [3_000, 10_000, 30_000, 60_000] as const;

/** While a session's work is not taken, tells the person so, at growing intervals. */
export class WaitingNotice {
  readonly #context: Context;
  readonly #environmentId: string;
  readonly #lookUp: () => Promise<OrganizationEnvironment | undefined>;
  #timer: Timer | undefined;

  /** `lookUp` is asked before each notice: how the environment stands by then. */
  constructor(
    context: Context,
    environmentId: string,
    lookUp: () => Promise<OrganizationEnvironment | undefined>,
  ) {
    this.#context = context;
    this.#environmentId = environmentId;
    this.#lookUp = lookUp;
    this.#wait(0);
  }

  observe({ type, data }: SessionEvent): void {
    if (type !== 'session.updated') return;
    this.cancel();
    // A lost bridge gives work back.
    if (data['status'] === 'queued') this.#wait(0);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(count: number): void {
    const { clock, terminal } = this.#context;
    if (terminal.json) return;
    const pauseMs = pausesMs[Math.min(count, pausesMs.length - 1)] ?? 0;
    const timer = clock.after(pauseMs, () => void this.#tell(timer, count));
    this.#timer = timer;
  }

  async #tell(timer: Timer, count: number): Promise<void> {
    // Without an answer the follower says that the connection is lost.
    const environment = await this.#lookUp().catch(() => undefined);
    if (this.#timer !== timer) return;
    const { clock, terminal } = this.#context;
    terminal.note(
      `waiting for ${this.#environmentId}${environment ? standing(environment, clock.now()) : ''}`,
    );
    this.#wait(count + 1);
  }
}

function standing(environment: OrganizationEnvironment, now: number): string {
  const { machine_name: machine, directory, status, last_seen_at: lastSeenAt } = environment;
  const sessions = environment.active_sessions;
  const presence =
    status === 'online'
      ? `online, ${sessions} ${sessions === 1 ? 'session' : 'sessions'} running`
      : `last seen ${ago(lastSeenAt, now)}`;
  return ` (${printable(machine)}, ${printable(directory)}); ${presence}`;
}

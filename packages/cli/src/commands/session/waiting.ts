import { shellWord, type Timer } from '@sallyport/core';
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
    const { clock } = this.#context;
    const pauseMs = pausesMs[Math.min(count, pausesMs.length - 1)] ?? 0;
    const timer = clock.after(pauseMs, () => void this.#tell(timer, count));
    this.#timer = timer;
  }

  async #tell(timer: Timer, count: number): Promise<void> {
    // Without an answer the follower says that the connection is lost.
    const found = await this.#lookUp().then(
      (environment) => ({ environment }),
      () => undefined,
    );
    if (this.#timer !== timer) return;
    const { clock, terminal } = this.#context;
    const id = printable(this.#environmentId);
    terminal.note(`waiting for ${id}${found ? standing(id, found.environment, clock.now()) : ''}`);
    this.#wait(count + 1);
  }
}

/**
 * How the environment stands, and what brings it a bridge where it has none. One that is started without the name would give the
 * environment another one.
 */
function standing(id: string, environment: OrganizationEnvironment | undefined, now: number): string {
  if (!environment)
    return `, which has no bridge yet. Start one on its machine: sallyport bridge run --env ${id} --exec 'CMD'`;
  const { machine_name: machine, directory, status, last_seen_at: lastSeenAt } = environment;
  const sessions = environment.active_sessions;
  const presence =
    status === 'online'
      ? `online, ${sessions} ${sessions === 1 ? 'session' : 'sessions'} running`
      : `last seen ${ago(lastSeenAt, now)}. Start its bridge there: sallyport bridge run --env ${id} --name ${shellWord(printable(machine))} --exec 'CMD'`;
  return ` (${printable(machine)}, ${printable(directory)}); ${presence}`;
}

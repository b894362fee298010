import { hostname } from 'node:os';
import { ServiceError, TransportError, type TokenSource } from '@sallyport/core';
import { Backoff } from './backoff.ts';
import type { Context } from './context.ts';
import { deviceTokenWithheld, isAboutDevice, isPerhapsDevices } from './device-refusal.ts';
import { judgeFailure, pauseMs, toError } from './failure.ts';
import { pauseAfter } from './pause-after.ts';
import { Pause } from './pause.ts';
import { RuntimeError } from './runtime-error.ts';
import type { BridgeState } from './state.ts';
import { within } from './within.ts';

const jitterMs = 1_000;
const longestWaitMs = 60_000;
const farewellMs = 1_500;

export interface RegistrationOptions {
  readonly context: Context;
  readonly state: BridgeState;
  readonly deviceToken: TokenSource;
  readonly runnerVersion: string;
  readonly directory: string;
  readonly name?: string;
  readonly environmentId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Told after each registration where the service gives hints, if it does. */
  readonly onHintsAt: (url: string | undefined) => void;
}

interface Registered {
  readonly environmentId: string;
  readonly hintsAt?: string;
}

/** Which environment this bridge is. It is taken up again after a restart, so that no second one ever appears. */
export class Registration {
  readonly #options: RegistrationOptions;
  readonly #backoff: Backoff;
  readonly #pause: Pause;
  /** Ends the call in flight, too, when the bridge stops. */
  readonly #abort = new AbortController();
  #environmentId: string | undefined;
  #isRegistered = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.context);
    this.#pause = new Pause(options.context.clock);
    this.#environmentId = options.environmentId ?? options.state.pointer?.environment_id;
  }

  /** Only after `register`. */
  get environmentId(): string {
    if (this.#environmentId === undefined) throw new Error('not registered yet');
    return this.#environmentId;
  }

  #isStopping(): boolean {
    return this.#abort.signal.aborted;
  }

  stop(): void {
    this.#abort.abort();
    this.#pause.end();
  }

  wake(): void {
    this.#backoff.reset();
    this.#pause.cut();
  }

  /**
   * Registers, however long it takes; resolves early when stopped. Rejects with what no waiting cures: with `device_revoked`,
   * and at the first registration with its 400 and 403, `device_token_withheld` and `other_environment`.
   */
  async register(): Promise<void> {
    const { signal } = this.#abort;
    let refused: string | undefined;
    let isReplaced = false;
    while (!this.#isStopping()) {
      let token: string | undefined;
      try {
        token = await this.#options.deviceToken.token(
          refused === undefined ? { signal } : { forceRefresh: true, refused, signal },
        );
        isReplaced ||= refused !== undefined;
        refused = undefined;
        const registered = await this.#send(token);
        await this.#requireAsked(registered);
        return this.#settle(registered);
      } catch (error) {
        if (this.#isStopping()) return;
        if (error instanceof RuntimeError) throw error;
        // Once only: what a new token does not cure is no matter of the device.
        if (token !== undefined && !isReplaced && isPerhapsDevices(error)) refused = token;
        else if (await this.#recover(error)) return;
      }
    }
  }

  /** Says that the bridge stops, so that the environment shows offline now and not when its presence lapses. */
  async disconnect(limitMs: number): Promise<void> {
    if (!this.#isRegistered) return; // another bridge may have it
    const { client, clock, gone, workerId } = this.#options.context;
    const headers = { 'vendor-worker-id': workerId };
    const params = { env_id: this.environmentId };
    await within(clock, limitMs, gone, (signal) =>
      client.bridge.disconnect({ headers, params, body: {}, signal }),
    );
  }

  /** Removes the registration and forgets the environment; its failure is the service's to clear up. */
  async remove(limitMs: number): Promise<void> {
    const { context, state } = this.#options;
    const environmentId = this.#environmentId;
    if (environmentId === undefined) return;
    const params = { environment_id: environmentId };
    await within(context.clock, limitMs, context.gone, (signal) =>
      context.client.bridge.unregister({ params, signal }),
    );
    state.removePointer();
    context.emit({ type: 'removed', environmentId });
  }

  /** Its removal failed. */
  kept(error: Error): void {
    const environmentId = this.#environmentId;
    if (environmentId !== undefined)
      this.#options.context.emit({ type: 'not_removed', environmentId, error });
  }

  /** The environment was deleted: a later start begins with a new one. */
  forget(): void {
    this.#options.state.removePointer();
  }

  async #send(deviceToken: string): Promise<Registered> {
    const { context, runnerVersion, directory, name, metadata } = this.#options;
    const { environment_id: environmentId, bridge_ws_url: hintsAt } = await context.client.bridge.register({
      headers: {
        'x-environment-runner-version': runnerVersion,
        'vendor-worker-id': context.workerId,
        'x-trusted-device-token': deviceToken,
      },
      body: {
        machine_name: name ?? hostname(),
        directory,
        metadata: { platform: process.platform, arch: process.arch, ...metadata },
        ...(this.#environmentId !== undefined && { environment_id: this.#environmentId }),
      },
      signal: this.#abort.signal,
    });
    if (typeof environmentId !== 'string')
      throw new TransportError('unexpected_answer', 'the registration was answered without an environment');
    return { environmentId, ...(typeof hintsAt === 'string' && { hintsAt }) };
  }

  /** The service has no such environment for this login, and gave what it has for this place: whoever named one wants no other. */
  async #requireAsked({ environmentId }: Registered): Promise<void> {
    const { environmentId: asked } = this.#options;
    if (this.#isRegistered || asked === undefined || environmentId === asked) return;
    this.#environmentId = environmentId;
    this.#isRegistered = true;
    await this.disconnect(farewellMs).catch(() => undefined);
    throw new RuntimeError(
      'other_environment',
      `The service does not let this login take up ${asked}, and gave ${environmentId} instead, which is left alone: name an environment of this account that is not archived.`,
    );
  }

  #settle({ environmentId, hintsAt }: Registered): void {
    const { context, state } = this.#options;
    const { pointer } = state;
    const generation = (pointer?.generation ?? 0) + 1;
    state.savePointer({
      environment_id: environmentId,
      worker_id: context.workerId,
      generation,
      ...(hintsAt !== undefined && { bridge_ws_url: hintsAt }),
    });
    const last = pointer?.environment_id;
    const resumed = environmentId === last;
    const instead = !resumed && last !== undefined && this.#options.environmentId === undefined;
    this.#environmentId = environmentId;
    this.#isRegistered = true;
    this.#backoff.succeeded();
    context.emit({ type: 'registered', environmentId, resumed, ...(instead && { instead: last }) });
    this.#options.onHintsAt(hintsAt);
  }

  /** Gives whether we are registered after all; else it has waited. */
  async #recover(error: unknown): Promise<boolean> {
    const { context } = this.#options;
    const verdict = judgeFailure(error);
    if (verdict.kind === 'conflict' && verdict.code === 'already_registered')
      return this.#adopt(verdict.details, verdict.retryAfterMs);
    // A new token for it would undo what a person did.
    if (verdict.kind === 'device_revoked') throw error;
    if (!this.#isRegistered && error instanceof ServiceError) {
      if (error.status === 400) throw isAboutDevice(error) ? deviceTokenWithheld(error) : error;
      // Nothing runs yet that would be worth a wait for a permission, and a person may be looking on.
      if (verdict.kind === 'refused') throw error;
    }
    const lasting = verdict.kind === 'login_required' || verdict.kind === 'refused';
    const retryInMs = lasting
      ? pauseMs[verdict.kind]
      : this.#backoff.next('retryAfterMs' in verdict ? verdict.retryAfterMs : undefined);
    context.emit({ type: lasting ? verdict.kind : 'offline', error: toError(error), retryInMs });
    await pauseAfter(context, this.#pause, error, retryInMs);
    return false;
  }

  /** The registration stands. Ours, from before a restart or an answer that was lost: go on with it. Another's: wait until it lapses. */
  async #adopt(
    details: Readonly<Record<string, unknown>>,
    retryAfterMs: number | undefined,
  ): Promise<boolean> {
    const { context } = this.#options;
    const { environment_id: holder, retry_after_ms: lapsesInMs, yours } = details;
    const { pointer } = this.#options.state;
    const isFromBefore = holder === this.#environmentId && holder === pointer?.environment_id;
    const isWanted = this.#environmentId === undefined || holder === this.#environmentId;
    if (typeof holder === 'string' && (isFromBefore || (yours === true && isWanted))) {
      // The refusal does not say where hints are: where they were.
      const hintsAt = isFromBefore ? pointer?.bridge_ws_url : undefined;
      this.#settle({ environmentId: holder, ...(hintsAt !== undefined && { hintsAt }) });
      return true;
    }
    const askedMs = typeof lapsesInMs === 'number' && lapsesInMs > 0 ? lapsesInMs : retryAfterMs;
    // The other one may say farewell long before its registration would lapse.
    const waitMs = askedMs === undefined ? this.#backoff.next() : Math.min(askedMs, longestWaitMs);
    const retryInMs = waitMs + context.random.fraction() * jitterMs;
    const environmentId = typeof holder === 'string' ? holder : undefined;
    context.emit({ type: 'occupied', environmentId, retryInMs });
    await this.#pause.for(retryInMs);
    return false;
  }
}

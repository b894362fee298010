import type { Context } from './context.ts';
import { HintStream } from './hint-stream.ts';
import type { StreamSocket } from './stream-socket.ts';
import type { Caller } from './records.ts';
import type { Registry } from './registry.ts';
import { drainRefusal, sendAway } from './send-away.ts';

/** The bridges' open persistent WebSockets of this process. */
export class HintStreams {
  readonly #context: Context;
  readonly #registry: Registry;
  readonly #streams = new Set<HintStream>();
  #draining = false;

  constructor(context: Context, registry: Registry) {
    this.#context = context;
    this.#registry = registry;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Before the upgrade: throws `not_found`, `forbidden` and `device_revoked` of the environment. What it gives takes the socket. */
  async open(caller: Caller, environmentId: string): Promise<(socket: StreamSocket) => void> {
    if (this.#draining) throw drainRefusal(this.#context);
    const check = () => this.#registry.trusted(caller, environmentId);
    const since = this.#context.devices.changes;
    const { registration } = await check();
    return (socket) => {
      const stream = new HintStream({
        context: this.#context,
        environmentId,
        socket,
        check,
        device: { id: registration.deviceId, since },
        onEnd: (ended) => this.#streams.delete(ended),
      });
      this.#streams.add(stream);
      if (this.#draining) void sendAway(this.#context, [stream]);
    };
  }

  tick(): void {
    for (const stream of this.#streams) stream.tick();
  }

  async drain(): Promise<void> {
    this.#draining = true;
    await sendAway(this.#context, this.#streams);
  }
}

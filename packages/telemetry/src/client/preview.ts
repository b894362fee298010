import { systemClock, systemRandom } from '@sallyport/core';
import type { Transport, TransportRequest } from '@sallyport/core/client';
import { linesOf, Packer } from './batch.ts';
import { encoderFor } from './encoder-for.ts';
import type { TelemetryEvent } from './event.ts';
import type { TelemetryBatcherOptions } from './options.ts';
import { createSender } from './send.ts';

/**
 * What a batcher of these options would send, for whoever wants to see it first: the very request, which goes nowhere. In the
 * place of a token it has a word. Without events there is none.
 */
export async function previewEvents(
  options: Omit<TelemetryBatcherOptions, 'transport' | 'tokens'>,
  events: readonly TelemetryEvent[],
): Promise<
  | {
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly events: readonly string[];
    }
  | undefined
> {
  const { clock = systemClock, random = systemRandom } = options;
  const encoder = encoderFor({ ...options, clock, random });
  const packer = new Packer({ maxEvents: Infinity, maxBytes: Infinity });
  const queued = events.map((event) => encoder.take(event)).filter((event) => event !== undefined);
  const [batch] = packer.pack(queued, (event, into) => encoder.write(event, into));
  if (!batch) return undefined;
  const requests: TransportRequest[] = [];
  const tokens = { token: () => Promise.resolve('[your login]') };
  const send = createSender({ ...options, transport: recorder(requests), tokens });
  await send(batch, new AbortController().signal);
  const [request] = requests;
  return request && { url: request.url, headers: request.headers, events: linesOf(batch) };
}

/** Takes requests instead of the network. */
function recorder(requests: TransportRequest[]): Transport {
  return {
    send(request) {
      requests.push(request);
      return Promise.resolve({
        status: 200,
        headers: {},
        text: () => Promise.resolve('{}'),
        async *stream() {},
      });
    },
    close: () => Promise.resolve(),
  };
}

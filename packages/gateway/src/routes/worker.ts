import { resumeFrom, type BridgeEngine } from '@sallyport/bridge/server';
import type { Handlers } from '../http/handler.ts';
import { toBridgeCaller } from './bridge.ts';
import { openEventSocket } from './event-socket.ts';

/** The worker's handshake and stream on the bridge engine. */
export function workerHandlers({ worker }: BridgeEngine): Handlers['worker'] {
  return {
    bridge: ({ caller, headers, params }) =>
      worker.takeOver(toBridgeCaller(caller, headers['vendor-worker-id']), params.id, {
        workerToken: headers['x-worker-token'],
      }),

    register: ({ caller, params }) => worker.register(caller, params.id),

    async stream(call) {
      const { caller, headers, params, query } = call;
      const from = resumeFrom(query.from_seq, headers['last-event-id']);
      const attach = await worker.open(caller, params.id, { from });
      const events = () => {
        const opened = openEventSocket();
        attach(opened.socket);
        return opened.frames(call.signal);
      };
      return Object.assign(attach, { events });
    },

    async events({ caller, params, body }) {
      const { events, ack } = body;
      const appended = await worker.append(caller, params.id, { events, takenSeq: ack });
      return { events: [...appended.events] };
    },
  };
}

import type { IncomingHttpHeaders } from 'node:http';
import { logsAnswerJson, logsAnswerProtobuf, type TelemetryEngine } from '@sallyport/telemetry/server';
import type { Handlers } from '../http/handler.ts';
import { isProtobuf } from '../http/otlp-refusal.ts';

/** The batch endpoint and OTLP logs on the telemetry engine. */
export function telemetryHandlers(engine: TelemetryEngine): Handlers['telemetry'] {
  return {
    batch: ({ caller, headers, body, request }) => {
      const idempotencyKey = headers['idempotency-key'];
      return engine.ingestBatch(caller, body.events, {
        serviceName: headers['x-service-name'],
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...sentAtOf(request.headers),
      });
    },

    async logs({ caller, body, request }) {
      const encoding = isProtobuf(request) ? 'protobuf' : 'json';
      const answer = await engine.ingestLogs(caller, { encoding, bytes: body }, sentAtOf(request.headers));
      return encoding === 'protobuf' ? logsAnswerProtobuf(answer) : logsAnswerJson(answer);
    },
  };
}

/** When it was sent by the sender's own clock, where it says so: epoch milliseconds, or an RFC 3339 date. */
function sentAtOf(headers: IncomingHttpHeaders): { sentAt?: number } {
  const header = headers['x-sent-at'];
  if (typeof header !== 'string') return {};
  const sentAt = /^\d{1,16}$/.test(header) ? Number(header) : Date.parse(header);
  return Number.isSafeInteger(sentAt) ? { sentAt } : {};
}

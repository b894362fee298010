import type { TelemetryEngine } from '@sallyport/telemetry/server';
import type { Handlers } from '../http/handler.ts';

/** The batch endpoint on the telemetry engine. */
export function telemetryHandlers(engine: TelemetryEngine): Handlers['telemetry'] {
  return {
    batch: ({ caller, headers, body }) => {
      const idempotencyKey = headers['idempotency-key'];
      return engine.ingestBatch(caller, body.events, {
        serviceName: headers['x-service-name'],
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
    },
  };
}

import { systemClock } from '@sallyport/core';
import { undiciTransport } from '@sallyport/core/client';
import { createExportRequest } from '@sallyport/telemetry/server';
import { exportOf } from '../config/export.ts';
import type { Config } from '../config/schema.ts';
import type { Check } from './findings.ts';

/** Sends the endpoint that telemetry goes on to a request without records. What it does not take waits, and stops no start. */
export async function checkExport(config: Config, check: Check): Promise<void> {
  const destination = exportOf(config);
  if (destination === undefined) return;
  const { url } = destination;
  const transport = undiciTransport({ connections: 1 });
  const send = createExportRequest({ config: destination, transport, clock: systemClock });
  try {
    await check(
      'telemetry export',
      () => send([], new AbortController().signal),
      ({ verdict, reason = '' }) =>
        verdict === 'taken'
          ? `${url} takes records`
          : {
              warns: `${url} takes no records now (${reason}): they wait in the store, for as long as telemetry.retentionSeconds and telemetry.maxStoredBytes let them. See to it, or to telemetry.export.`,
            },
    );
  } finally {
    await transport.close();
  }
}

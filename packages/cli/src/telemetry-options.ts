import { join } from 'node:path';
import type { TelemetryBatcherOptions } from '@sallyport/telemetry';
import type { Context } from './context.ts';
import { version } from './version.ts';

/** How commands report what they do. */
export function telemetryOptions({
  settings,
  env,
  random,
}: Context): Pick<
  TelemetryBatcherOptions,
  'serviceName' | 'serviceVersion' | 'spoolDir' | 'enabled' | 'allowAttributes' | 'env' | 'random'
> {
  return {
    serviceName: 'agent_cli',
    serviceVersion: version,
    spoolDir: join(settings.stateDir, 'telemetry'),
    enabled: settings.telemetry,
    // Ids, states and kinds: a name or a path that somebody adds to an event stays here until it is added here, too.
    allowAttributes: ['session.id', 'session.status', 'process.exit.code', 'error.type', 'reason', 'resumed'],
    env,
    random,
  };
}

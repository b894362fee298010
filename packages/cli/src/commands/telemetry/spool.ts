import { join } from 'node:path';
import { openSpool, type Spool } from '@sallyport/telemetry';
import type { Context } from '../../context.ts';

/** Where events wait that no command could send yet. */
export function spoolOf({ settings, clock }: Context): { readonly spool: Spool; readonly directory: string } {
  const directory = join(settings.stateDir, 'telemetry');
  return { spool: openSpool({ directory, clock, baseUrl: settings.baseUrl }), directory };
}

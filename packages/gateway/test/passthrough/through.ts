import { silentLog, systemClock, type Log } from '@sallyport/core';
import { loadConfig } from '../../src/config/load.ts';
import { openPassthrough } from '../../src/passthrough/open.ts';
import type { Outbox } from '../../src/passthrough/outbox.ts';
import type { Served } from '../../src/app.ts';
import { serve, type ServedApp } from '../serve.ts';

/** Serves, with what `flags` of the configuration say goes elsewhere. */
export async function through(
  upstream: string,
  flags: Readonly<Record<string, unknown>> = {},
  options: NonNullable<Parameters<typeof serve>[1]> = {},
  more: Partial<Pick<Served, 'mayKeep' | 'authenticator'>> & {
    readonly outbox?: Outbox;
    readonly log?: Log;
  } = {},
): Promise<ServedApp> {
  const { config } = loadConfig({ env: {}, flags: { upstream, ...flags } });
  const { outbox, log = silentLog, ...served } = more;
  const passthrough = await openPassthrough(config, options.clock ?? systemClock, log, outbox);
  const { upstreams } = passthrough;
  const app = await serve(
    { ...served, passthrough, checks: upstreams.checks, stats: [() => upstreams.stats()] },
    options,
  );
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close().then(() => passthrough.close()));
  return { ...app, close, [Symbol.asyncDispose]: close };
}

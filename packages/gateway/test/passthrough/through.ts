import { systemClock } from '@sallyport/core';
import { loadConfig } from '../../src/config/load.ts';
import { openPassthrough } from '../../src/passthrough/open.ts';
import { serve, type ServedApp } from '../serve.ts';

/** Serves, with what `flags` of the configuration say goes elsewhere. */
export async function through(
  upstream: string,
  flags: Readonly<Record<string, unknown>> = {},
  options: NonNullable<Parameters<typeof serve>[1]> = {},
): Promise<ServedApp> {
  const { config } = loadConfig({ env: {}, flags: { upstream, ...flags } });
  const passthrough = await openPassthrough(config, options.clock ?? systemClock);
  const { upstreams } = passthrough;
  const served = await serve(
    { passthrough, checks: upstreams.checks, stats: [() => upstreams.stats()] },
    options,
  );
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= served.close().then(() => passthrough.close()));
  return { ...served, close, [Symbol.asyncDispose]: close };
}

import { systemClock } from '@sallyport/core';
import { isLoopback } from '../config/address.ts';
import { createLog } from '../http/log.ts';
import { startGateway } from '../start.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';
import { countSignals } from './signals.ts';

/** `sallyport-gateway start`: serves until the first SIGTERM or SIGINT, then drains; a second one ends at once. */
export async function start(flags: ConfigFlags & { readonly printSetup?: boolean }): Promise<void> {
  const { config } = configOf(flags);
  const log = createLog(config.logLevel);
  const stop = Promise.withResolvers<NodeJS.Signals>();
  const onSignal = countSignals(systemClock, (signal, count) => {
    if (count > 1) process.exit(130);
    stop.resolve(signal);
  });
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);

  const gateway = await startGateway({
    config,
    log,
    onFatal(error) {
      log.fatal({ err: error }, 'the store has failed');
      process.exit(1);
    },
  });
  // Scripts wait for this line.
  process.stdout.write(`listening on ${gateway.url}\n`);
  if (!isLoopback(config.host)) log.warn({ host: config.host }, 'listening beyond this machine');
  if (flags.printSetup === true || process.stdout.isTTY) {
    const link = await gateway.services.setupLink();
    if (link !== undefined) process.stdout.write(`set the owner's password: ${link}\n`);
  }

  const signal = await stop.promise;
  log.info({ signal }, 'draining');
  await gateway.close();
  log.info('stopped');
  process.exit(0);
}

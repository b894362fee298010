import type { Log } from '@sallyport/core';
import type { LoadedConfig } from '../config/load.ts';
import { mergeReload, type Reload } from '../config/reload.ts';
import type { Gateway } from '../start.ts';
import { describeFailure } from './failure.ts';

/** Has a gateway go on with the configuration that `read` gives, at each call; what happened is told to the log. */
export function reloading(
  gateway: Gateway,
  first: LoadedConfig,
  { read, log }: { readonly read: () => LoadedConfig; readonly log: Log },
): () => Promise<void> {
  let current = first;
  return async () => {
    let reload: Reload | undefined;
    try {
      await gateway.reload(() => {
        reload = mergeReload(current, read());
        return reload.loaded.config;
      });
    } catch (error) {
      const { message } = describeFailure(error);
      return log.error(
        { reason: message },
        'the configuration was not reloaded: the one before stays in force',
      );
    }
    if (reload === undefined) return;
    const { loaded, changed, ignored } = reload;
    current = loaded;
    log.info({ changed }, 'the configuration was reloaded');
    if (ignored.length > 0) log.warn({ ignored }, 'these settings need a restart to change');
  };
}

import { join, resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';

/** The embedded store's file. */
export function embeddedStorePath(config: Pick<Config, 'store' | 'dataDir'>): string {
  return config.store === undefined
    ? join(config.dataDir, 'sallyport.db')
    : resolve(config.store.slice('sqlite:'.length));
}

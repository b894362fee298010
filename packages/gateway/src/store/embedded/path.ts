import { join, resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';

/** Where the store keeps the bundles of feedback: beside its file, so that two stores never sweep each other's. */
export function feedbackDirectory(config: Pick<Config, 'store' | 'dataDir'>): string {
  return config.store === undefined
    ? join(config.dataDir, 'feedback')
    : `${embeddedStorePath(config)}.feedback`;
}

/** The embedded store's file. */
export function embeddedStorePath(config: Pick<Config, 'store' | 'dataDir'>): string {
  return config.store === undefined
    ? join(config.dataDir, 'sallyport.db')
    : resolve(config.store.slice('sqlite:'.length));
}

import type { Clock, Log } from '@sallyport/core';
import type { Served } from './app.ts';
import type { Config } from './config/schema.ts';
import { openEngines } from './engines.ts';
import { Housekeeping } from './housekeeping.ts';
import { createCallOrigins } from './http/call-origin.ts';
import { openPassthrough } from './passthrough/open.ts';
import type { Passthrough } from './passthrough/passthrough.ts';
import { operator } from './operator.ts';
import { createServing, serves } from './serving.ts';
import { lowOnSpace } from './store/embedded/free-space.ts';
import { lockStore } from './store/embedded/lock.ts';
import { embeddedStorePath } from './store/embedded/path.ts';
import { keepPrivate } from './store/embedded/private-file.ts';
import { openEmbeddedStore, type EmbeddedStore } from './store/embedded/store.ts';

/** The engines over their stores, and all that the gateway's routes need of them. */
export interface Services {
  /** What is served now. */
  readonly served: Served;
  /**
   * The same engines under another configuration of what passes through. Throws `ConfigError`; what is served now goes on.
   * What is given out is closed with the services, if not before.
   */
  serveAnew(config: Config): Promise<Served>;
  /** The owner's e-mail address, as long as the account has no password. */
  ownerToSetUp(): Promise<string | undefined>;
  /** A one-time link to set the owner's password, in place of those given before; `undefined` once there is one. */
  setupLink(): Promise<string | undefined>;
  /** Ends the engines, flushes and closes the store, and gives it free. */
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly config: Config;
  /** Where clients reach the gateway; without a slash at the end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** What commands on the same configuration are given, with a space before it. */
  readonly flags: string;
  /** The store is gone for good: the process should end. */
  readonly onFatal: (error: Error) => void;
}

/** Opens the embedded store and composes the engines over it. Rejects with a `StoreError`, whose message is for people. */
export async function openServices(options: ServicesOptions): Promise<Services> {
  const { config, publicUrl, onFatal } = options;
  const path = embeddedStorePath(config);
  const lock = lockStore(path, publicUrl);
  let store: EmbeddedStore | undefined;
  try {
    store = await openEmbeddedStore({
      path,
      check: 'start',
      onFatal,
      onNotice: (notice) => options.log.warn({}, notice),
    });
    keepPrivate(path, options.log);
    const services = await compose(store, options);
    return {
      ...services,
      async close() {
        await services.close();
        await store?.close();
        lock.release();
      },
    };
  } catch (error) {
    await store?.close();
    lock.release();
    throw error;
  }
}

async function compose(store: EmbeddedStore, options: ServicesOptions): Promise<Services> {
  const { config, clock, log } = options;
  const callOrigins = createCallOrigins();
  const engines = await openEngines(store, { ...options, callOrigin: () => callOrigins.current() });
  const { oauth, bridge, feedback, exporter, outbox } = engines;
  const lowDisk = () => lowOnSpace(embeddedStorePath(config), config.lowDiskBytes);
  const housekeeping = new Housekeeping(engines, { clock, log, lowDisk });
  const { dialect } = config;
  const serving = createServing(engines, {
    dialect,
    clock,
    callOrigins,
    store,
    lowDisk,
  });
  await feedback.start();
  await bridge.start();
  exporter?.start();
  housekeeping.start();

  const open = new Set<Passthrough>();
  async function serveAnew(config: Config): Promise<Served> {
    const passthrough = await openPassthrough(config, clock, log, outbox, options.flags);
    open.add(passthrough);
    return serving(passthrough);
  }
  const served = await serveAnew(config);
  const ownerWithoutPassword = async () => {
    const owner = await oauth.accounts.find();
    return owner.hasPassword || !serves(served.passthrough, 'oauth') ? undefined : owner;
  };

  return {
    served,
    serveAnew,
    ownerToSetUp: async () => (await ownerWithoutPassword())?.email,
    async setupLink() {
      const owner = await ownerWithoutPassword();
      if (owner === undefined) return undefined;
      return (await callOrigins.by(operator(), () => oauth.accounts.setupLink(owner.id))).url;
    },
    async close() {
      await housekeeping.stop();
      await exporter?.stop();
      await outbox.stop();
      await bridge.stop();
      for (const passthrough of open) await passthrough.close();
    },
  };
}

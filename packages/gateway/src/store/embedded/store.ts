import type { BridgeStore } from '@sallyport/bridge/server';
import type { OAuthStore } from '@sallyport/oauth/server';
import type { FeedbackStore, TelemetryStore } from '@sallyport/telemetry/server';
import type { OutboxStore } from '../../passthrough/outbox-ports.ts';
import { bridgeReads } from './bridge-reads.ts';
import { feedbackReads } from './feedback-reads.ts';
import { oauthReads } from './oauth-reads.ts';
import { outboxReads } from './outbox-reads.ts';
import { openReader } from './reader.ts';
import { telemetryReads } from './telemetry-reads.ts';
import { readByTurns, type TurnReader } from './turn-reader.ts';
import { openWriter, type WriterOptions, type WriterStats } from './writer.ts';

/** The engines' storage ports over one SQLite file. */
export interface EmbeddedStore {
  readonly oauth: OAuthStore;
  readonly bridge: BridgeStore;
  readonly telemetry: TelemetryStore;
  readonly feedback: FeedbackStore;
  readonly outbox: OutboxStore;
  /** Rejects where the file cannot be read, or could not be written just now. */
  check(): Promise<void>;
  stats(): WriterStats;
  /** Finishes the acts that wait, then closes. */
  close(): Promise<void>;
}

/** Opens the file for reading and writing. Rejects with a `StoreError`. */
export async function openEmbeddedStore(options: WriterOptions): Promise<EmbeddedStore> {
  let reader: TurnReader | undefined;
  const writer = await openWriter({ ...options, onAnswers: () => reader?.renew() });
  const close = async () => {
    await writer.close();
    reader?.close();
  };
  try {
    const opened = (reader = readByTurns(openReader(options.path)));
    return {
      oauth: { acts: writer.area('oauth'), reads: oauthReads(opened) },
      bridge: { acts: writer.area('bridge'), reads: bridgeReads(opened) },
      telemetry: { ...writer.area('telemetry'), ...telemetryReads(opened) },
      feedback: { ...writer.area('feedback'), ...feedbackReads(opened) },
      outbox: { ...writer.area('outbox'), ...outboxReads(opened) },
      async check() {
        const failing = writer.failing();
        if (failing) throw failing;
        opened.query('SELECT count(*) FROM schema_migration').get();
      },
      stats: () => writer.stats(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

import type { OutboxHead, OutboxReads } from '../../passthrough/outbox-ports.ts';
import type { Reader } from './reader.ts';

interface Row {
  readonly id: number;
  readonly receivedAt: number;
  readonly path: string;
  readonly headers: string;
  readonly body: Uint8Array;
}

/** The outbox's bounded reads on SQLite. */
export function outboxReads(reader: Reader): OutboxReads {
  const oldest = reader.query<Row>(
    'SELECT id, received_at AS receivedAt, path, headers, body FROM telemetry_outbox ORDER BY id LIMIT 1',
  );
  const head = reader.query<OutboxHead>('SELECT requests, bytes FROM telemetry_outbox_head');
  return {
    async oldest() {
      const row = oldest.get();
      return row && { ...row, headers: JSON.parse(row.headers) as string[] };
    },
    head: async () => head.get() ?? { requests: 0, bytes: 0 },
  };
}

import type { DeadLetter, KeptRequest, OutboxHead, OutboxReads } from '../../passthrough/outbox-ports.ts';
import type { Reader } from './reader.ts';

type Row = Omit<KeptRequest, 'headers'> & { readonly headers: string };

const origin =
  'id, organization_id AS organizationId, account_id AS accountId, received_at AS receivedAt, records, path';
const request = `${origin}, headers, body`;
const refusal = 'refused_at AS refusedAt, status, reason, bytes';

/** What `toHead` takes. */
export interface HeadRow {
  readonly requests: number;
  readonly records: number;
  readonly bytes: number;
  readonly deadLetters: number;
  readonly deadRecords: number;
  readonly deadBytes: number;
  readonly oldestAt: number | null;
}

export const selectHead = `
  SELECT requests, records, bytes, dead_letters AS deadLetters, dead_records AS deadRecords, dead_bytes AS deadBytes,
    (SELECT min(received_at) FROM telemetry_outbox) AS oldestAt
  FROM telemetry_outbox_head`;

export function toHead(row: HeadRow): OutboxHead {
  const { requests, records, bytes, deadLetters, deadRecords, deadBytes, oldestAt } = row;
  const aside = { requests: deadLetters, records: deadRecords, bytes: deadBytes };
  return { requests, records, bytes, oldestAt, deadLetters: aside };
}

const nothing = {
  requests: 0,
  records: 0,
  bytes: 0,
  deadLetters: 0,
  deadRecords: 0,
  deadBytes: 0,
  oldestAt: null,
};

/** The outbox's bounded reads on SQLite. */
export function outboxReads(reader: Reader): OutboxReads {
  const oldest = reader.query<Row>(
    `SELECT ${request} FROM telemetry_outbox WHERE organization_id = ? ORDER BY came, part LIMIT 1`,
  );
  const queues = reader.query<{ readonly organizationId: string }>(
    'SELECT organization_id AS organizationId FROM telemetry_outbox_queue ORDER BY organization_id',
  );
  const head = reader.query<HeadRow>(selectHead);
  const deadLetters = reader.query<DeadLetter>(
    `SELECT ${origin}, ${refusal} FROM telemetry_dead_letter WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const ofAccount = 'WHERE account_id = ? AND id > ? ORDER BY id LIMIT 1';
  const next = {
    waiting: reader.query<Row>(`SELECT ${request} FROM telemetry_outbox ${ofAccount}`),
    dead_letters: reader.query<Row & DeadLetter>(
      `SELECT ${request}, ${refusal} FROM telemetry_dead_letter ${ofAccount}`,
    ),
  };
  return {
    async oldest({ organizationId }) {
      const row = oldest.get(organizationId);
      return row && withHeaders(row);
    },
    queues: async () => queues.all().map(({ organizationId }) => organizationId),
    head: async () => toHead(head.get() ?? nothing),
    deadLetters: async ({ after, limit }) => deadLetters.all(after, limit),
    async nextOfAccount({ accountId, among, after }) {
      const row = next[among].get(accountId, after);
      return row && withHeaders(row);
    },
  };
}

function withHeaders<T extends Row>(row: T): Omit<T, 'headers'> & Pick<KeptRequest, 'headers'> {
  return { ...row, headers: JSON.parse(row.headers) as string[] };
}

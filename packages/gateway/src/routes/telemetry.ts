import type { Clock } from '@sallyport/core';
import {
  logsAnswerJson,
  logsAnswerProtobuf,
  type Delivery,
  type TelemetryEngine,
} from '@sallyport/telemetry/server';
import { contract, type TelemetryRecord } from '@sallyport/core/contract';
import type { Handlers, SseFrame } from '../http/handler.ts';
import { isProtobuf } from '../http/otlp-refusal.ts';
import { askedAccount, type AccountIds } from './asked-account.ts';
import { linkNextPage, pageSize } from './page.ts';

/** How long a feed may go on by what its caller was when it began. */
const readmitMs = 2000;

/** The telemetry's rows on its engine. */
export function telemetryHandlers(
  engine: TelemetryEngine,
  accounts: AccountIds,
  clock: Clock,
): Handlers['telemetry'] {
  /** The query by account id alone, as the engine has it. */
  async function byId<Query extends Parameters<typeof askedAccount>[0]>(query: Query): Promise<Query> {
    const accountId = await askedAccount(query, accounts);
    return accountId === undefined ? query : { ...query, account_id: accountId };
  }

  return {
    batch: ({ caller, headers, body }) =>
      engine.ingestBatch(caller, body.events, {
        serviceName: headers['x-service-name'],
        ...deliveryOf(headers),
      }),

    async logs({ caller, headers, body, request }) {
      const encoding = isProtobuf(request) ? 'protobuf' : 'json';
      const answer = await engine.ingestLogs(caller, { encoding, bytes: body }, deliveryOf(headers));
      return encoding === 'protobuf' ? logsAnswerProtobuf(answer) : logsAnswerJson(answer);
    },

    async query({ caller, query, request, reply, signal }) {
      const limit = pageSize(contract.telemetry.query, query.limit);
      const { records, next } = await engine.records.list(caller, await byId(query), limit, signal);
      linkNextPage(request, reply, next);
      return records;
    },

    async tail({ caller, headers, query: { from_id: fromId, ...query }, signal, readmit }) {
      const resumed = headers['last-event-id'] ?? '';
      const asked = /^\d{1,15}$/.test(resumed) ? Number(resumed) : fromId;
      const { afterId, records } = await engine.records.follow(caller, await byId(query), {
        afterId: asked,
        signal,
      });
      // An admin who is one no more ends here, and resumes with less to see.
      const isTheSame = () =>
        readmit()
          .then(({ role }) => role === caller.role)
          .catch(() => false);
      return toFrames(afterId, whileTrue(isTheSame, records, clock));
    },

    stats: async ({ caller, query, signal }) => engine.records.count(caller, await byId(query), signal),
  };
}

async function* whileTrue<Item>(
  holds: () => Promise<boolean>,
  items: AsyncIterable<Item>,
  clock: Clock,
): AsyncIterable<Item> {
  let checkedAt = clock.monotonic();
  for await (const item of items) {
    if (clock.monotonic() - checkedAt >= readmitMs) {
      if (!(await holds())) return;
      checkedAt = clock.monotonic();
    }
    yield item;
  }
}

/** The place first: a reader that has seen no record yet must know behind which one it would resume. */
async function* toFrames(afterId: number, records: AsyncIterable<TelemetryRecord>): AsyncIterable<SseFrame> {
  yield { id: String(afterId), event: 'started', data: { id: afterId } };
  for await (const record of records) yield { id: String(record.id), data: record };
}

/** What the headers say of it; an `x-sent-at` that is no time says nothing. */
function deliveryOf({
  'idempotency-key': idempotencyKey,
  'x-sent-at': sent = '',
}: {
  readonly 'idempotency-key'?: string;
  readonly 'x-sent-at'?: string;
}): Delivery {
  const sentAt = /^\d{1,16}$/.test(sent) ? Number(sent) : Date.parse(sent);
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(Number.isSafeInteger(sentAt) && { sentAt }),
  };
}

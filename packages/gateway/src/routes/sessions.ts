import { resumeFrom, type BridgeEngine, type FollowerItem } from '@sallyport/bridge/server';
import { ServiceError } from '@sallyport/core';
import { contract, type SessionStatus } from '@sallyport/core/contract';
import type { Accounts } from '@sallyport/oauth/server';
import type { Handlers, SseFrame } from '../http/handler.ts';
import { toBridgeCaller } from './bridge.ts';
import { linkNextPage, pageSize } from './page.ts';
import { withEmails } from './session-emails.ts';

/** The sessions' rows on the bridge engine; `accounts` tells who its sessions are of. */
export function sessionsHandlers(
  { sessions }: BridgeEngine,
  accounts: Pick<Accounts, 'get'>,
): Handlers['sessions'] {
  return {
    async create({ caller, headers, body }) {
      if (headers['x-organization-uuid'] !== caller.organizationId)
        throw new ServiceError('forbidden', "The organization is not the token's.");
      return sessions.create(toBridgeCaller(caller), body, { idempotencyKey: headers['idempotency-key'] });
    },

    async list({ caller, query, request, reply }) {
      const { items, next } = await sessions.list(toBridgeCaller(caller), {
        limit: pageSize(contract.sessions.list, query.limit),
        offset: query.offset,
        accountId: query.account_id,
        environmentId: query.environment_id,
        // The row has let statuses through alone.
        statuses: query.status?.split(',') as SessionStatus[] | undefined,
        tag: query.tag,
      });
      linkNextPage(request, reply, next);
      return withEmails(items, accounts);
    },

    async get({ caller, params }) {
      const session = await sessions.get(toBridgeCaller(caller), params.id);
      const [shown = session] = await withEmails([session], accounts);
      return shown;
    },

    delete: ({ caller, params }) => sessions.delete(toBridgeCaller(caller), params.id),

    async append({ caller, params, body }) {
      const { events } = await sessions.append(toBridgeCaller(caller), params.id, body.events);
      return { events: [...events] };
    },

    async stream({ caller, headers, params, query, signal }) {
      const from = resumeFrom(query.from_seq, headers['last-event-id']);
      return toFrames(await sessions.follow(toBridgeCaller(caller), params.id, { from, signal }));
    },
  };
}

async function* toFrames(items: AsyncIterable<FollowerItem>): AsyncIterable<SseFrame> {
  for await (const item of items) {
    if (item.kind === 'event') yield { id: String(item.event.seq), data: item.event };
    else yield { event: item.type, data: item.data };
  }
}

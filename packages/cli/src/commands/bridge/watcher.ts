import type { RuntimeEvent } from '@sallyport/bridge';
import { ServiceError } from '@sallyport/core';
import type { Context } from '../../context.ts';
import { describeRuntimeEvent } from './describe.ts';
import { runtimeEventJson } from './event-json.ts';

/**
 * Tells the person what happens: of an outage each kind of trouble once, and once when it is over. The first connection of a
 * session goes without saying.
 */
export function watcher({
  terminal,
  flags,
}: Pick<Context, 'terminal' | 'flags'>): (event: RuntimeEvent) => void {
  const troubles = new Set<string>();
  /** Why each session has no stream, as far as it was told. */
  const cut = new Map<string, Set<string>>();
  const reasonsOf = (sessionId: string): Set<string> => {
    const reasons = cut.get(sessionId) ?? new Set();
    cut.set(sessionId, reasons);
    return reasons;
  };
  const isNews = (event: RuntimeEvent): boolean => {
    switch (event.type) {
      case 'offline':
      case 'login_required':
      case 'refused':
      case 'occupied':
      case 'duplicated':
      case 'workspaces_full':
        return added(troubles, event.type);
      case 'polling':
        troubles.clear();
        return true;
      case 'session.disconnected':
        return added(reasonsOf(event.sessionId), kindOf(event.error));
      case 'session.connected':
        return cut.delete(event.sessionId);
      case 'session.ended':
        cut.delete(event.sessionId);
        return true;
      default:
        return true;
    }
  };
  return (event) => {
    if (terminal.json) return terminal.result({ json: runtimeEventJson(event), human: '' });
    const line = isNews(event) ? describeRuntimeEvent(event, flags) : undefined;
    if (line !== undefined) terminal.note(line);
  };
}

/** What the service says is worth a line of its own; ways to lose a connection are not. */
function kindOf(error: Error): string {
  return error instanceof ServiceError ? error.code : 'connection';
}

function added(set: Set<string>, name: string): boolean {
  const before = set.size;
  return set.add(name).size > before;
}

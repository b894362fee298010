import type { Report } from '@sallyport/core';
import type { RuntimeEvent } from './events.ts';

/** `toReport`, and of an outage each kind of trouble once: a bridge that tries for a night is no thousand errors. */
export function outageReports(): (event: RuntimeEvent) => Report | undefined {
  const told = new Set<string>();
  return (event) => {
    if (event.type === 'polling') told.clear();
    const report = toReport(event);
    if (report === undefined || !isTrouble(event)) return report;
    const isKnown = told.has(event.type);
    told.add(event.type);
    return isKnown ? undefined : report;
  };
}

function isTrouble({ type }: RuntimeEvent): boolean {
  return type === 'offline' || type === 'login_required' || type === 'refused';
}

/** What of a runtime's events goes to the telemetry: that things happened, never what a session said. */
export function toReport(event: RuntimeEvent): Report | undefined {
  switch (event.type) {
    case 'registered':
      return { name: 'bridge.registered', attributes: { resumed: event.resumed } };
    case 'offline':
    case 'login_required':
    case 'refused':
      return {
        name: `bridge.${event.type}`,
        severity: 'error',
        attributes: { 'error.type': event.error.name },
      };
    case 'session.started':
      return { name: 'session.started', attributes: { 'session.id': event.sessionId } };
    case 'session.ended':
      return {
        name: 'session.ended',
        severity: (event.exitCode ?? 0) > 0 ? 'error' : 'info',
        attributes: {
          'session.id': event.sessionId,
          reason: event.reason,
          ...(event.exitCode !== null && { 'process.exit.code': event.exitCode }),
        },
      };
    default:
      return undefined;
  }
}

import type { Report } from '@sallyport/core';
import type { RuntimeEvent } from './events.ts';

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

import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { Handlers } from '../http/handler.ts';

/** The trusted devices' rows. */
export function devicesHandlers({ trustedDevices }: AuthorizationServer): Handlers['devices'] {
  return {
    trust: ({ caller, body }) => trustedDevices.trust(caller, body.display_name),
  };
}

import { audit } from './audit.ts';
import { clients } from './clients.ts';
import { credentials } from './credentials.ts';
import { people } from './people.ts';
import { settings } from './settings.ts';

/** Administration: every row is for admins, and of the organization of their token alone. */
export const admin = { ...people, ...credentials, ...clients, ...settings, ...audit } as const;

import type { Role } from './records.ts';

/** What each role may do in its organization. */
export const permissionsOf: Readonly<Record<Role, readonly string[]>> = {
  admin: ['read', 'write', 'manage_projects'],
  member: ['read', 'write'],
  viewer: ['read'],
};

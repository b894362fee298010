import type { Migration } from '../migrate.ts';

/** Pending device codes count by the network that asked, as all limits do. Those from before count by their address. */
export const deviceGrantNetworkMigration: Migration = {
  name: 'oauth: networks of device grants',
  sql: `
    ALTER TABLE oauth_device_grant ADD COLUMN network TEXT NOT NULL DEFAULT '';
    UPDATE oauth_device_grant SET network = address;
    DROP INDEX oauth_device_grant_pending;
    CREATE INDEX oauth_device_grant_pending ON oauth_device_grant (client_id, network, expires_at) WHERE state = 'pending';
  `,
};

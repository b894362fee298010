/** Notified after records of any organization were stored. */
export const allRecordsTopic = 'telemetry';

/** Notified after records of the organization were stored. */
export function recordsTopic(organizationId: string): string {
  return `telemetry:${organizationId}`;
}

import { severities, severityNameOf, toTimestamp } from '@sallyport/core';
import type { TelemetryStats } from '@sallyport/core/contract';
import type { RecordCount } from './ports.ts';

/** Services that are named; the others are counted together. */
const maxServices = 50;
/** Of records without a severity. */
const unspecified = 'unspecified';

/** Puts together what pieces of the walk found: by time, by severity with the worst first, by service with the busiest first. */
export function countsByBucket(
  counts: readonly RecordCount[],
  { from, bucketMs, buckets: length }: { readonly from: number; bucketMs: number; buckets: number },
): Pick<TelemetryStats, 'total' | 'buckets' | 'severities' | 'services'> {
  const buckets = Array.from({ length }, (_, index) => ({
    at: toTimestamp(from + index * bucketMs),
    count: 0,
    errors: 0,
  }));
  const bySeverity = new Map<string, number>();
  const byService = new Map<string, number>();
  let total = 0;
  for (const { bucket, severityNumber, serviceName, count } of counts) {
    total += count;
    const of = buckets[bucket];
    if (of) {
      of.count += count;
      if (severityNumber >= severities.error) of.errors += count;
    }
    add(bySeverity, severityNameOf(severityNumber) ?? unspecified, count);
    add(byService, serviceName, count);
  }
  const services = [...byService]
    .map(([service, count]) => ({ service, count }))
    .sort((one, other) => other.count - one.count || one.service.localeCompare(other.service));
  const others = services.slice(maxServices).reduce((sum, { count }) => sum + count, 0);
  return {
    total,
    buckets,
    severities: [...Object.keys(severities).reverse(), unspecified].flatMap((severity) => {
      const count = bySeverity.get(severity);
      return count === undefined ? [] : [{ severity, count }];
    }),
    services:
      others === 0 ? services : [...services.slice(0, maxServices), { service: '(others)', count: others }],
  };
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

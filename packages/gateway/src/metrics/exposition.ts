import type { Metric } from 'prom-client';
import { histogramValues, trafficFamilies, type MetricFamily } from './metric-families.ts';
import type { Stat, StatSource, Timing } from './sources.ts';
import type { Traffic } from './traffic.ts';

/** The counters as Prometheus text. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * Renders what is counted in plain fields, beside prom-client's basics of the process. The library's own counters hash
 * their labels at each step, which would cost every request 3 us.
 */
export async function createExposition(
  traffic: Traffic,
  sources: () => readonly StatSource[],
): Promise<Exposition> {
  const { default: client } = await import('prom-client');
  const basics = new client.Registry();
  client.collectDefaultMetrics({ register: basics });
  return {
    contentType: basics.contentType,
    async text() {
      const now = new client.Registry();
      const stats = (await Promise.all(sources().map(async (source) => source()))).flat();
      for (const family of [...trafficFamilies(traffic), ...statFamilies(stats)])
        now.registerMetric(asMetric(family));
      return (await now.metrics()) + (await basics.metrics());
    },
  };
}

function statFamilies(stats: readonly (Stat | Timing)[]): MetricFamily[] {
  return [...Map.groupBy(stats, ({ name }) => name)].map(([name, same]) => ({
    name,
    help: same[0]?.help ?? '',
    type: same[0]?.type ?? 'gauge',
    values: same.flatMap(({ value, labels = {} }) =>
      typeof value === 'number' ? { value, labels } : histogramValues(name, value, labels),
    ),
  }));
}

/** All that a registry asks of a metric. */
function asMetric(family: MetricFamily): Metric {
  const named = { ...family, name: `sallyport_${family.name}` };
  const values = family.values.map((value) => ({
    ...value,
    ...(value.metricName !== undefined && { metricName: `sallyport_${value.metricName}` }),
  }));
  return { ...named, get: () => Promise.resolve({ ...named, values }) } as unknown as Metric;
}

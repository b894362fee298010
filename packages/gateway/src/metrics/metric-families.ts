import { bounds, type Histogram } from './histogram.ts';
import { statusClasses, type Meter, type Traffic, type TrafficLabels } from './traffic.ts';

/** One metric with its values, as prom-client renders it. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
    /** Where it is not the family's: `..._bucket`. */
    readonly metricName?: string;
  }[];
}

type Values = MetricFamily['values'];

/** What is counted by row, as metrics. */
export function trafficFamilies({ meters }: Traffic): readonly MetricFamily[] {
  const all = [...meters];
  const upstream = all.filter(({ labels }) => labels.upstream !== '');
  const counter = (name: string, help: string, values: Values): MetricFamily => ({
    name,
    help,
    type: 'counter',
    values,
  });
  return [
    counter(
      'requests_total',
      'Requests that have ended, by the class of their status; cut: before their end',
      all.flatMap(byStatus),
    ),
    {
      name: 'requests_in_flight',
      help: 'Requests, streams and WebSockets that are open',
      type: 'gauge',
      values: all.map(({ labels, inFlight: value }) => ({ value, labels: { ...labels } })),
    },
    counter(
      'received_bytes_total',
      'Bytes of bodies that callers sent upstream',
      upstream.map(({ labels, receivedBytes: value }) => ({ value, labels: { ...labels } })),
    ),
    counter(
      'sent_bytes_total',
      'Bytes of bodies that upstreams sent callers',
      upstream.map(({ labels, sentBytes: value }) => ({ value, labels: { ...labels } })),
    ),
    counter(
      'upstream_retries_total',
      'Requests that were sent again',
      upstream.map(({ labels, retries: value }) => ({ value, labels: { ...labels } })),
    ),
    counter(
      'contract_checked_total',
      'Messages that were held to the contract on their way through',
      upstream.flatMap((meter) => bySide(meter, meter.checked)),
    ),
    counter(
      'contract_departures_total',
      'Those of them that depart from it',
      upstream.flatMap((meter) => bySide(meter, meter.departures)),
    ),
    {
      name: 'upstream_seconds',
      help: 'From when a request is with its upstream to the head of the answer',
      type: 'histogram',
      values: upstream.flatMap((meter) =>
        histogramValues('upstream_seconds', meter.upstreamSeconds, meter.labels),
      ),
    },
    {
      name: 'gateway_seconds',
      help: 'What the gateway takes to send a request on',
      type: 'histogram',
      values: upstream.flatMap((meter) =>
        histogramValues('gateway_seconds', meter.gatewaySeconds, meter.labels),
      ),
    },
  ];
}

function byStatus({ requests, labels }: Meter): Values {
  return requests.flatMap((value, at) =>
    value === 0 ? [] : { value, labels: { ...labels, status: statusClasses[at] ?? '' } },
  );
}

/** Nothing where nothing is checked. */
function bySide({ checked, labels }: Meter, counts: Meter['checked']): Values {
  const sides = ['request', 'response'] as const;
  return sides.flatMap((side) =>
    checked[side] === 0 ? [] : { value: counts[side], labels: { ...labels, side } },
  );
}

/** What is rendered of a histogram; nothing as long as it has seen nothing. */
export function histogramValues(
  name: string,
  { buckets, sum, count }: Histogram,
  of: Readonly<Record<string, string>> | TrafficLabels,
): Values {
  if (count === 0) return [];
  const labels = { ...of };
  let below = 0;
  const within = bounds.map((le, at) => {
    below += buckets[at] ?? 0;
    return { metricName: `${name}_bucket`, value: below, labels: { ...labels, le } };
  });
  return [
    ...within,
    { metricName: `${name}_bucket`, value: count, labels: { ...labels, le: '+Inf' } },
    { metricName: `${name}_sum`, value: sum, labels },
    { metricName: `${name}_count`, value: count, labels },
  ];
}

/** The least severity of each name: the ranges of OTLP's `SeverityNumber`. */
export const severities = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const;
export type SeverityName = keyof typeof severities;

const descending = Object.entries(severities).reverse() as [SeverityName, number][];

/** The name of the range that a severity is in; 0 is in none. */
export function severityNameOf(severityNumber: number): SeverityName | undefined {
  return descending.find(([, least]) => severityNumber >= least)?.[0];
}

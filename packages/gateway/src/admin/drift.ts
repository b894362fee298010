import { existsSync } from 'node:fs';
import { driftFile, readDrift } from '../passthrough/drift.ts';
import { configOf } from './config-of.ts';
import { ExplainedError } from './failure.ts';
import type { ConfigFlags } from './flags.ts';
import { printJson } from './print.ts';

/** `sallyport-gateway drift`: where upstreams and callers departed from the contract, as far as it was looked at. */
export function printDrift(flags: ConfigFlags & { readonly json?: boolean }): void {
  const { config } = configOf(flags);
  // A typing mistake must not look like a contract that is kept.
  if (!existsSync(config.dataDir))
    throw new ExplainedError(
      `There is no directory ${config.dataDir}: name the one of the gateway with --data-dir.`,
    );
  const departures = readDrift(driftFile(config.dataDir));
  if (flags.json === true) {
    printJson({ validation: config.upstream.validation, departures });
    return;
  }
  if (departures.length === 0) {
    const why =
      config.upstream.validation === 'off' ? ' upstream.validation is off: nothing is looked at.' : '';
    process.stdout.write(`No departures from the contract were seen.${why}\n`);
    return;
  }
  const rows = departures.map(({ count, row, side, path, message, last }) => [
    String(count),
    row,
    side,
    `${path}: ${message}`,
    last,
  ]);
  const table = [['COUNT', 'ROW', 'SIDE', 'WHAT', 'LAST SEEN'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table)
    process.stdout.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`);
}

import { ServiceError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { mutated, randomBody } from '../testing/otlp-mutations.ts';
import { drawsOf } from '../testing/otlp-random.ts';
import { decodeLogs } from './logs-body.ts';
import type { OtlpEncoding } from './otlp-answer.ts';

// Mutated bodies through both decoders: taken, or refused as no OTLP, never anything else. Always the same ones, until
// told: SALLYPORT_FUZZ_RUNS=1000000 SALLYPORT_FUZZ_SEED=7
const runs = Number(process.env['SALLYPORT_FUZZ_RUNS'] ?? 20_000);
const seed = Number(process.env['SALLYPORT_FUZZ_SEED'] ?? 1);
const receivedAt = 1_700_000_000_123;

test.each<OtlpEncoding>(['protobuf', 'json'])(
  `${runs} mutated bodies in %s`,
  { timeout: 60_000 + runs * 5 },
  (encoding) => {
    const draw = drawsOf(seed);
    const outcomes = { taken: 0, partly: 0, refused: 0 };
    let body = Buffer.alloc(0);
    for (let run = 0; run < runs; run++) {
      // Four mutations of each body, one on top of the other.
      if (run % 4 === 0) body = randomBody(encoding, draw(2 ** 31));
      body = mutated(body, encoding, draw);
      outcomes[outcomeOf(encoding, body)]++;
    }
    // Mutations that are all refused, or all taken, would test little.
    expect(outcomes.refused).toBeGreaterThan(runs / 20);
    expect(outcomes.taken).toBeGreaterThan(runs / 20);
  },
);

function outcomeOf(encoding: OtlpEncoding, bytes: Buffer): 'taken' | 'partly' | 'refused' {
  try {
    const { groups, accepted, rejected } = decodeLogs({ encoding, bytes }, receivedAt);
    const records = groups.flatMap((group) => group.records);
    expect(records.length).toBe(accepted);
    // What a store writes and a query reads again.
    for (const text of [JSON.stringify(groups)]) expect(text.isWellFormed()).toBe(true);
    for (const { timeUnixNano, severityNumber } of records) {
      expect(BigInt(timeUnixNano)).toBeLessThan(2n ** 64n);
      expect(severityNumber).toBeLessThanOrEqual(24);
    }
    return rejected > 0 ? 'partly' : 'taken';
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid_otlp') return 'refused';
    throw new Error(`seed ${seed}: ${encoding} ${bytes.toString('base64')}`, { cause: error });
  }
}

import type { Doubt } from '../passthrough/probe.ts';
import { describeFailure } from './failure.ts';

/** As `sallyport doctor` tells it; what to do about a failure is the end of what it says. */
interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly says: string;
}

/** Asks one thing and notes what was found, or what may be wrong. `undefined`: it failed. */
export type Check = <T>(
  name: string,
  run: () => T | Promise<T>,
  says: (value: T) => string | Doubt,
) => Promise<T | undefined>;

/** What the checks of one run come to. */
export function createFindings(): { readonly findings: Finding[]; readonly check: Check } {
  const findings: Finding[] = [];
  const check: Check = async (name, run, says) => {
    try {
      const value = await run();
      const said = says(value);
      const isDoubt = typeof said === 'object';
      findings.push({ check: name, status: isDoubt ? 'warn' : 'ok', says: isDoubt ? said.warns : said });
      return value;
    } catch (error) {
      findings.push({ check: name, status: 'fail', says: describeFailure(error).message });
      return undefined;
    }
  };
  return { findings, check };
}

import type { Check } from '../../src/admin/findings.ts';
import { checkUpstreams } from '../../src/admin/doctor-upstreams.ts';
import { describeFailure } from '../../src/admin/failure.ts';
import { loadConfig } from '../../src/config/load.ts';

/** What `sallyport-gateway doctor` finds at the upstreams: by step, whether it went well and what is said. */
export async function findingsOf(flags: Readonly<Record<string, unknown>>) {
  const { config } = loadConfig({ env: {}, flags });
  const findings: [string, boolean | 'warns', string][] = [];
  const check: Check = async (name, run, says) => {
    try {
      const value = await run();
      const said = says(value);
      findings.push(typeof said === 'string' ? [name, true, said] : [name, 'warns', said.warns]);
      return value;
    } catch (error) {
      findings.push([name, false, describeFailure(error, {}).message]);
      return undefined;
    }
  };
  await checkUpstreams(config, check, ' --config g.yaml');
  return findings;
}

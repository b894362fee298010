import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from './raw-upstream.ts';

export interface SeenByVendor {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface VendorUpstream extends AsyncDisposable {
  readonly url: string;
  readonly seen: SeenByVendor[];
  /** What it was asked last, once it was asked so often. */
  asked(count: number): Promise<SeenByVendor | undefined>;
}

/** A model vendor's API, in a process of its own. */
export async function startVendor(): Promise<VendorUpstream> {
  const program = join(import.meta.dirname, 'vendor-upstream.ts');
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const [url] = (await once(lines, 'line')) as [string];
  const seen: SeenByVendor[] = [];
  lines.on('line', (line) => seen.push(JSON.parse(line) as SeenByVendor));
  return {
    url,
    seen,
    async asked(count) {
      await until(() => seen.length >= count);
      return seen.splice(0).at(-1);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reloading } from '../../src/admin/reload.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';

/** A gateway whose configuration is a file, and the log of its reloads. */
export async function configurableGateway(settings: object) {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-configurable-'));
  const file = join(directory, 'gateway.json');
  const write = (content: unknown) =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  const fixed = { port: 0, dataDir: join(directory, 'data'), logLevel: 'silent' };
  write({ ...fixed, ...settings });
  const read = () => loadConfig({ env: {}, file });
  const first = read();
  const gateway = await startGateway({ config: first.config });
  const told: [string, object][] = [];
  const note = (level: string) => (fields: object) => void told.push([level, fields]);
  const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const reload = reloading(gateway, first, { read, log });
  return {
    gateway,
    url: gateway.url,
    told,
    reload: (content: object | string) => {
      write(typeof content === 'string' ? content : { ...fixed, ...content });
      return reload();
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      rmSync(directory, { recursive: true });
    },
  };
}

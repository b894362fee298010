import { text } from 'node:stream/consumers';
import { openPromise } from 'yauzl';

/** The texts in a ZIP file, by name. */
export async function readZip(path: string): Promise<Record<string, string>> {
  const zip = await openPromise(path, { autoClose: false });
  const files: Record<string, string> = {};
  for await (const entry of zip.eachEntry())
    files[entry.fileName] = await text(await zip.openReadStreamPromise(entry));
  zip.close();
  return files;
}

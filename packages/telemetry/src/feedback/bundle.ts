import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { printable, reasonOf, ServiceError, toTimestamp, type Clock } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { contract } from '@sallyport/core/contract';
import { ZipFile } from 'yazl';
import type { Redactor } from '../client/redact.ts';
import { createEntryNames } from './entry-name.ts';
import { endOf, tailOf } from './text-lines.ts';

/** Text that goes into a bundle: a file of this machine, or lines that are made. */
export type BundleSource = {
  /** Its path within the bundle; what no file system, or no terminal, takes of it is made to fit, and so is one that comes twice. */
  readonly name: string;
  /** When it was last written, in epoch milliseconds: where there is no room, the oldest goes. Without one it stays. */
  readonly modifiedAt?: number;
} & ({ readonly path: string } | { readonly lines: () => AsyncIterable<string> });

export interface BundledFile {
  readonly name: string;
  /** As it is in the bundle, before compression. */
  readonly bytes: number;
  /** Lines in which a secret, or a person's directory, was taken out. */
  readonly redacted_lines: number;
  /** Bytes of its beginning that are not in the bundle. */
  readonly left_out_bytes: number;
}

/** What `manifest.json` of a bundle says. */
export interface BundleManifest {
  readonly created_at: string;
  readonly files: readonly BundledFile[];
  readonly omitted: readonly { readonly name: string; readonly why: string }[];
}

export interface Bundle {
  readonly path: string;
  readonly bytes: number;
  readonly manifest: BundleManifest;
}

export interface BundleOptions {
  readonly sources: readonly BundleSource[];
  /** Where the ZIP goes; made if it is missing. */
  readonly directory: string;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** Ends it with nothing left, also while a pipe is read that nobody writes to. */
  readonly signal?: AbortSignal;
  /** Of a file: only its end is taken (default 10 MiB). */
  readonly maxFileBytes?: number;
  /** Of the ZIP (default: what the service takes). */
  readonly maxBytes?: number;
}

interface Part extends BundledFile {
  readonly path: string;
  readonly modifiedAt: number;
}

const manifestName = 'manifest.json';
const maxBundleBytes = contract.feedback.bundle.limits.bodyBytes;

/**
 * Makes a ZIP of texts without their secrets, with a `manifest.json` that says what is in it and what is not, and why. A
 * source that cannot be read, or whose last line is too long, is left out; where the ZIP gets too large, the oldest are.
 * Throws `payload_too_large` where even that does not help.
 */
export async function buildBundle(options: BundleOptions): Promise<Bundle> {
  const { directory, clock, maxBytes = maxBundleBytes } = options;
  makeDirectory(directory);
  const workspace = await mkdtemp(join(directory, 'bundle-'));
  try {
    const omitted: { name: string; why: string }[] = [];
    let parts: readonly Part[] = await prepare(options, workspace, omitted);
    const stem = toTimestamp(clock.now()).replace(/[:.]/g, '-');
    const path = join(directory, `feedback-${stem}.zip`);
    for (;;) {
      const manifest = { created_at: toTimestamp(clock.now()), files: parts.map(toBundledFile), omitted };
      await writeZip(path, parts, manifest);
      const { size } = await stat(path);
      if (size <= maxBytes) return { path, bytes: size, manifest };
      await rm(path, { force: true });
      const oldest = parts.toSorted((a, b) => a.modifiedAt - b.modifiedAt)[0];
      if (oldest === undefined || oldest.modifiedAt === Infinity) throw tooLarge(size, maxBytes);
      omitted.push({ name: oldest.name, why: 'there was no room for it' });
      parts = parts.filter((part) => part !== oldest);
    }
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

export function tooLarge(bytes: number, maxBytes: number): ServiceError {
  return new ServiceError(
    'payload_too_large',
    `The bundle has ${grouped(bytes)} bytes; the service takes ${grouped(maxBytes)}.`,
  );
}

function grouped(bytes: number): string {
  return bytes.toLocaleString('en');
}

async function prepare(
  { sources, redactor, signal, maxFileBytes = 10 * 1024 ** 2 }: BundleOptions,
  workspace: string,
  omitted: { name: string; why: string }[],
): Promise<Part[]> {
  const parts: Part[] = [];
  const entryName = createEntryNames([manifestName]);
  for (const [index, source] of sources.entries()) {
    const { modifiedAt = Infinity } = source;
    const name = entryName(source.name);
    try {
      const { lines, bytesBefore } =
        'path' in source
          ? await endOf(source.path, maxFileBytes, signal)
          : { lines: source.lines(), bytesBefore: 0 };
      const { text, redactedLines, leftOutBytes } = await tailOf(lines, redactor, maxFileBytes);
      const left_out_bytes = bytesBefore + leftOutBytes;
      // Of a line without its beginning nobody can tell what in it is a secret.
      if (left_out_bytes > 0 && text.trim() === '')
        throw new Error(`its last line is longer than the ${grouped(maxFileBytes)} bytes that are taken`);
      const path = join(workspace, String(index));
      await writeFile(path, text, { mode: 0o600 });
      const bytes = Buffer.byteLength(text);
      const counts = { bytes, redacted_lines: redactedLines, left_out_bytes };
      parts.push({ name, path, modifiedAt, ...counts });
    } catch (error) {
      signal?.throwIfAborted();
      omitted.push({ name, why: printable(redactor.text(reasonOf(error))) });
    }
  }
  return parts;
}

function toBundledFile({ name, bytes, redacted_lines, left_out_bytes }: Part): BundledFile {
  return { name, bytes, redacted_lines, left_out_bytes };
}

async function writeZip(path: string, parts: readonly Part[], manifest: BundleManifest): Promise<void> {
  const zip = new ZipFile();
  const failed = new AbortController();
  zip.on('error', (error) => failed.abort(error));
  zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), manifestName);
  for (const { path: from, name } of parts) zip.addFile(from, name);
  zip.end();
  try {
    await pipeline(zip.outputStream, createWriteStream(path, { mode: 0o600 }), { signal: failed.signal });
  } catch (error) {
    await rm(path, { force: true });
    // Not the pipeline's, that it was aborted: nobody left.
    throw failed.signal.aborted ? failed.signal.reason : error;
  }
}

const kib = 1024;

/** Bytes for a person: `512 B`, `12.0 MiB`, `1.5 GiB`. */
export function size(bytes: number): string {
  if (bytes < kib) return `${Math.round(bytes)} B`;
  if (bytes < kib ** 2) return `${(bytes / kib).toFixed(1)} KiB`;
  if (bytes < kib ** 3) return `${(bytes / kib ** 2).toFixed(1)} MiB`;
  return `${(bytes / kib ** 3).toFixed(1)} GiB`;
}

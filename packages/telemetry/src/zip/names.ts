// Names of a ZIP file as they would lie in a directory, on whatever system it is unpacked.

const maxSegmentBytes = 255;
const maxPathBytes = 4096;
const maxSegments = 64;
/** What steers a terminal, or turns what stands beside it, where the names are listed. */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** What is wrong with one of the names, or with several together; `undefined`: nothing. */
export function faultOfNames(names: readonly string[]): string | undefined {
  /** The folded path of each; whether it is a file's. */
  const paths = new Map<string, boolean>();
  for (const name of names) {
    const fault = faultOfName(name);
    if (fault !== undefined) return fault;
    const path = foldedPath(name);
    if (paths.has(path)) return 'has a name twice';
    paths.set(path, !name.endsWith('/'));
  }
  for (const path of paths.keys())
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      if (paths.get(path.slice(0, end)) === true) return 'has a name twice';
  return undefined;
}

function faultOfName(name: string): string | undefined {
  if (controls.test(name)) return 'has a name with control characters';
  const segments = segmentsOf(name);
  const isPath =
    segments.length > 0 &&
    segments.length <= maxSegments &&
    Buffer.byteLength(name) <= maxPathBytes &&
    segments.every((segment) => segment !== '..' && Buffer.byteLength(segment) <= maxSegmentBytes);
  return isPath ? undefined : 'has a name that no file system takes';
}

/** But for those that say nothing. */
function segmentsOf(name: string): string[] {
  return name.split('/').filter((segment) => segment !== '' && segment !== '.');
}

/** The same for names that other file systems would take for the same one: Windows passes over dots and blanks at an end. */
function foldedPath(name: string): string {
  const segments = segmentsOf(name.normalize('NFC').toLowerCase());
  return segments.map((segment) => segment.replace(/(?<=[^. ])[. ]+$/, '')).join('/');
}

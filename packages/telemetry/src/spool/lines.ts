/** The lines that are JSON objects. The last line of a file whose process died, or a damaged block, is not one. */
export function parseLines(text: string): { readonly lines: string[]; readonly damaged: number } {
  const all = text.split('\n').filter((line) => line !== '');
  const lines = all.filter(isJsonObject);
  return { lines, damaged: all.length - lines.length };
}

function isJsonObject(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

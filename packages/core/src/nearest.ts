/** The question that a wrong name asks for, `undefined` where nothing is near; `show` says how the name is written. */
export function didYouMean(
  name: string,
  names: readonly string[],
  show = (meant: string) => meant,
): string | undefined {
  const meant = nearest(name, names);
  return meant === undefined ? undefined : `Did you mean ${show(meant)}?`;
}

/** The one of `names` that needs the fewest edits to become `name`, if it is near enough to be what was meant. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const scored = names.map((candidate) => ({ candidate, edits: distance(name, candidate) }));
  const best = scored.sort((a, b) => a.edits - b.edits)[0];
  return best && best.edits <= Math.max(2, Math.ceil(name.length / 3)) ? best.candidate : undefined;
}

/** Levenshtein distance, without regard to case. */
function distance(left: string, right: string): number {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

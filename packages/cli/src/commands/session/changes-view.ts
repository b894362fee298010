import type { ChangedFile, PatchedChanges } from '@sallyport/bridge';
import { largest } from '@sallyport/core/table';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import { page } from '../../io/pager.ts';
import { printable } from '../../io/printable.ts';
import { size } from '../../io/size.ts';
import type { Terminal } from '../../io/terminal.ts';
import type { ToldChanges } from './changes-in-log.ts';

/** What a session changed, and who says so. */
export interface SessionChanges extends ToldChanges {
  readonly session_id: string;
  /** `worktree`: it is on this machine. */
  readonly from: 'worktree' | 'log';
  readonly directory?: string;
}

/** How changes are shown; neither: as a patch. */
export interface ChangesView {
  readonly stat?: boolean;
  readonly nameOnly?: boolean;
}

/** The most signs that stand for the lines of a file. */
const mostSigns = 40;

/** Shows what a session changed; exit 1 where that is not all of what was asked for, with a notice on stderr why not. */
export async function showChanges(
  context: Context,
  view: ChangesView,
  changes: SessionChanges,
): Promise<number> {
  const { terminal } = context;
  const isOfFiles = view.stat === true || view.nameOnly === true;
  const lacks = changes.sources.flatMap((source) => {
    if ('error' in source) return [`What changed in ${source.url} is not known: ${source.error}`];
    return isOfFiles ? lackOfFiles(source) : lackOfPatch(source, changes);
  });
  if (changes.as_of !== undefined)
    lacks.push(`This was told at ${changes.as_of}, while it ran. What it changed after that is not known.`);
  if (terminal.json) terminal.result({ json: toJson(changes), human: '' });
  else await showForPerson(context, view, changes);
  for (const lack of lacks) terminal.note(printable(lack));
  return lacks.length === 0 ? exitCodes.done : exitCodes.failed;
}

async function showForPerson(
  context: Context,
  { stat = false, nameOnly = false }: ChangesView,
  { session_id: id, sources }: SessionChanges,
): Promise<void> {
  const { terminal } = context;
  const known = sources.flatMap((source) => ('error' in source ? [] : [source]));
  if (known.every((source) => source.file_count === 0)) {
    if (known.length === sources.length) terminal.note(`Session ${id} has changed nothing.`);
    return;
  }
  if (!stat && !nameOnly && !terminal.isForEyes) {
    for (const { patch } of known) terminal.out(patch);
    return;
  }
  const parts = known.map((source) => {
    if (nameOnly)
      return lines(source.files.map(({ path }) => (terminal.isForEyes ? printable(path) : oneLine(path))));
    // Two sources may have files of the same names.
    const title = known.length === 1 ? '' : `${printable(`${source.url} (${source.branch})`)}\n`;
    return title + (stat ? statOf(source, terminal) : colored(source.patch, terminal));
  });
  await page(context, parts.join(''));
}

function toJson({ sources, ...rest }: SessionChanges): unknown {
  const withText = (source: SessionChanges['sources'][number]) => {
    if ('error' in source) return source;
    const { patch, ...others } = source;
    return { ...others, text: Buffer.from(patch).toString('utf8') };
  };
  return { ...rest, sources: sources.map(withText) };
}

function lackOfFiles({ files, file_count: count }: PatchedChanges): readonly string[] {
  return files.length < count ? [`Of ${count} files that changed ${files.length} are known by name.`] : [];
}

function lackOfPatch(
  { patch, patch_bytes: bytes, file_count: count, added, removed, ...source }: PatchedChanges,
  { from, session_id: id }: SessionChanges,
): readonly string[] {
  const all = `${count} ${count === 1 ? 'file' : 'files'}, +${added} -${removed}: sallyport session diff ${id} --stat`;
  const lacks: string[] = [];
  if (source.withheld && count > 0)
    lacks.push(`Its bridge keeps patches to itself (--changes files). There are ${all}`);
  else if (patch.length < bytes)
    lacks.push(
      `The log has only ${size(patch.length)} of ${size(bytes)}: it was trimmed. In all there are ${all}`,
    );
  else if (source.truncated) lacks.push(`The patch is cut after ${size(bytes)}. In all there are ${all}`);
  const binary = source.files.filter((file) => file.added === undefined).length;
  if (from === 'log' && binary > 0 && !source.withheld)
    lacks.push(`The log has no content of binary files; ${binary} ${binary === 1 ? 'differs' : 'differ'}.`);
  if (source.redacted) lacks.push('Secrets of the bridge are replaced by `***`: the patch may not apply.');
  return lacks;
}

/** As `git diff --stat` has it. */
function statOf({ files, file_count: count, added, removed }: PatchedChanges, terminal: Terminal): string {
  const names = files.map(nameOf);
  const width = largest(names, (name) => name.length);
  const most = largest(files, (file) => (file.added ?? 0) + (file.removed ?? 0));
  const digits = Math.max(3, String(most).length);
  const scale = Math.min(1, mostSigns / Math.max(1, most));
  const signs = (sign: string, lines: number) => sign.repeat(Math.ceil(lines * scale));
  const rows = files.map(({ added: plus, removed: minus }, index) => {
    const name = ` ${(names[index] ?? '').padEnd(width)} | `;
    if (plus === undefined || minus === undefined) return `${name}${'Bin'.padStart(digits)}`;
    const bar = terminal.style('green', signs('+', plus)) + terminal.style('red', signs('-', minus));
    return `${name}${String(plus + minus).padStart(digits)}${plus + minus > 0 ? ` ${bar}` : ''}`;
  });
  const more = count - files.length;
  if (more > 0) rows.push(` ... and ${more} more`);
  return lines([...rows, ` ${count} ${count === 1 ? 'file' : 'files'} changed, +${added} -${removed}`]);
}

/** As git has it: a name that would be two lines, or could be taken for a quoted one, is in quotes. */
function oneLine(path: string): string {
  return /[\0-\x1F"\\\x7F]/.test(path) ? JSON.stringify(path) : path;
}

function nameOf({ path, from }: ChangedFile): string {
  return printable(from === undefined ? path : `${from} => ${path}`);
}

/** What a file holds must not steer the terminal. */
function colored(patch: Uint8Array, terminal: Terminal): string {
  const text = Buffer.from(patch).toString('utf8').replace(/\n$/, '');
  if (text === '') return '';
  return lines(text.split('\n').map((line) => coloredLine(visible(line), terminal)));
}

function coloredLine(line: string, terminal: Terminal): string {
  if (/^(diff --git|index|---|\+\+\+|(new|deleted|old) (file )?mode|(rename|similarity|copy) ) ?/.test(line))
    return terminal.style('bold', line);
  if (line.startsWith('@@')) return terminal.style('cyan', line);
  if (line.startsWith('+')) return terminal.style('green', line);
  return line.startsWith('-') ? terminal.style('red', line) : line;
}

/** A tabulator is what files are indented with, and a carriage return the end of many a line. */
function visible(line: string): string {
  return line
    .replace(/\r$/, '')
    .split('\t')
    .map((part) => printable(part))
    .join('\t');
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

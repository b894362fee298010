import { didYouMean } from '@sallyport/core';
import { CommandError, exitCodes } from '../io/exit.ts';
import { printable } from '../io/printable.ts';
import { table } from '../io/table.ts';

/** What a person may call one thing of a list by; sessions have no name. */
export interface Naming {
  readonly id: string;
  readonly name?: string;
}

type IdPrefix = 'env' | 'session';

/** As many characters as git wants of a commit. */
const fewestCharacters = 4;
/** Of those that a refusal shows. */
const mostShown = 10;

/** What there are several of, and how a person is shown which. */
export interface Kind<T> {
  readonly what: 'environment' | 'session';
  readonly prefix: IdPrefix;
  readonly naming: (one: T) => Naming;
  readonly header: readonly string[];
  readonly row: (one: T) => readonly string[];
}

/**
 * The ids of those that a person means, each once. A whole id asks nobody; for others `list` is asked, once for all. What looks
 * like an id and is in no list is taken as it is: the service knows more than it lists.
 */
export async function idsMeant<T>(
  given: readonly string[],
  kind: Kind<T>,
  list: () => Promise<readonly T[]>,
): Promise<readonly string[]> {
  const isWhole = (each: string) => isWholeId(kind.prefix, each);
  const known = given.every(isWhole) ? [] : await list();
  return [...new Set(given.map((each) => (isWhole(each) ? each : idAmong(known, each, kind))))];
}

/** Whether it is a whole id, so that nothing has to be looked up: ours have 26 characters, those of other services about as many. */
export function isWholeId(prefix: IdPrefix, given: string): boolean {
  return given.startsWith(`${prefix}_`) && /^\w{24,}$/.test(given.slice(prefix.length + 1));
}

function idAmong<T>(known: readonly T[], given: string, kind: Kind<T>): string {
  const { what, prefix, naming, header, row } = kind;
  const [only, ...others] = meantBy(given, known, prefix, naming);
  if (only === undefined && given.startsWith(`${prefix}_`)) return given;
  if (only === undefined)
    throw unknown(
      given,
      what,
      known.flatMap((each) => naming(each).name ?? []),
    );
  if (others.length > 0) throw ambiguous(given, what, header, [only, ...others].map(row));
  return naming(only).id;
}

/**
 * Those that a person means by `given`: the one of that id, else those of that name, whose case counts only where names differ
 * by nothing else, and those whose id begins so, with its prefix or without: whoever names a machine cannot have it taken for
 * another one.
 */
export function meantBy<T>(
  given: string,
  all: readonly T[],
  prefix: IdPrefix,
  naming: (one: T) => Naming,
): readonly T[] {
  const of = (isMeant: (naming: Naming) => boolean) => all.filter((each) => isMeant(naming(each)));
  const folded = given.toLowerCase();
  const start = folded.startsWith(`${prefix}_`) ? folded : `${prefix}_${folded}`;
  const isLong = start.length - prefix.length - 1 >= fewestCharacters;
  const beginsSo = (id: string) => isLong && id.toLowerCase().startsWith(start);
  const ways: readonly ((naming: Naming) => boolean)[] = [
    ({ id }) => id === given,
    ({ id, name }) => name === given || beginsSo(id),
    ({ name }) => name?.toLowerCase() === folded,
  ];
  for (const isMeant of ways) {
    const found = of(isMeant);
    if (found.length > 0) return found;
  }
  return [];
}

/** Several are meant: they are shown, for the person to choose. The first of each row is its id, which scripts are told. */
export function ambiguous(
  given: string,
  what: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): CommandError {
  const more = rows.length > mostShown ? `\n… and ${rows.length - mostShown} more` : '';
  return new CommandError(
    'ambiguous',
    `${shown(given)} may be one of several ${what}s:\n${table(header, rows.slice(0, mostShown))}${more}`,
    exitCodes.usage,
    'Name one by its id, or by as much of the beginning as no other has.',
    { details: { candidates: rows.map(([id]) => id) } },
  );
}

/** None is meant; the name that is nearest is named. */
function unknown(given: string, what: Kind<unknown>['what'], names: readonly string[]): CommandError {
  const suggestion = didYouMean(given, [...new Set(names)], shown);
  return new CommandError(
    'not_found',
    [`There is no ${what} ${shown(given)}.`, suggestion].filter(Boolean).join(' '),
    exitCodes.notFound,
    `See which there are: sallyport ${what === 'environment' ? 'env' : what} list`,
  );
}

function shown(name: string): string {
  return JSON.stringify(printable(name));
}

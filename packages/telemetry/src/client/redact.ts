import { homedir, tmpdir } from 'node:os';
import { hideNamed } from './named-secrets.ts';
import { secretKeys } from './secret-keys.ts';
import { isHarmless, secretName } from './secret-names.ts';
import { hideInCommands } from './secret-options.ts';

/** Takes secrets and persons out of what is reported, before it is queued. */
export interface Redactor {
  /** The text without secrets, and without the names of persons in paths. */
  text(value: string): string;
  /** Whether what has this name is a secret; of a value that is given, whether it is. */
  isSecret(name: string, value?: unknown): boolean;
}

/** Directories of this process; each is replaced by a word where it occurs. */
export interface RedactedPaths {
  readonly home?: string;
  readonly cwd?: string;
  readonly tmp?: string;
}

/** Most texts have none of these, and are let through after one look; or two, for a key may be among their words. */
const suspicious = /[-=:/\\@%]|bearer|password|requirepass|masterauth|setenv|config(?:ure)? set/i;
const longWord = /\b\w{11}/;

// Every expression is linear in the text: it starts at a fixed word, and what may repeat is bounded or ends the match.
const pem = /-----BEGIN [A-Z0-9 ]{1,64}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,64}-----|$)/g;
const bearer = /\b(bearer\s{1,4})[^\s"',;]+/gi;
/** As `.pgpass` has it: host, port, database, user and password. The port is looked for first: colons are rarer than lines. */
const pgpass =
  /(:(?:\d{3,5}|\*):(?<=^[^\s:/]{1,253}:[\d*]{1,5}:)[^\s:]{1,64}:[a-z_*][^\s:]{0,63}:)[^\s:].*$/gim;
/** `curl -u name:x`, or `"-u", "name:x"` where arguments are listed. */
const userOption =
  /((?<![\w-])(?:-u|--user|--proxy-user)(?:["'],)?[\s=]{0,4}(?:(["'])[^:"'\r\n]{1,128}:|[^\s:"']{1,128}:))((?:(?!\2)[^\r\n]){1,512}(?=\2)|[^\s"']+)/g;
/** Who has an address that is signed may use it. */
const signature = /([?&](?:sig|(?:x-(?:amz|goog)-)?signature)=)[^\s"'&]+/gi;
/** Up to the last `@`: a password may have one. Oracle's is behind a slash. */
const userInfo = /(:\/\/|:thin:[^\s/"'<>]{1,128}\/)[^\s/"'<>]{1,512}@/g;
/** Names have spaces, so a person's segment ends at the next separator, quote or line end, not at a blank. */
const userDirectory = /([/\\](?:Users|home)(?:\/|\\{1,2}))[^/\\"'\r\n]+/gi;

/** What stands for a secret. */
export const hidden = '[redacted]';

/** Makes the redactor of a process that runs in these directories. */
export function createRedactor({ home, cwd, tmp }: RedactedPaths = {}): Redactor {
  const places = [
    { path: cwd ?? '', word: '<cwd>' },
    { path: tmp ?? '', word: '<tmp>' },
    { path: home ?? '', word: '~' },
  ]
    // Of `/` nothing but separators would be replaced.
    .filter(({ path }) => path.length > 1)
    // The working directory is mostly within the home directory: the longer one first.
    .sort((a, b) => b.path.length - a.path.length)
    // `/home/jan` is not the beginning of `/home/janet`.
    .map(({ path, word }) => ({ pattern: new RegExp(`${escapeForRegExp(path)}(?![\\w.-])`, 'g'), word }));

  return {
    isSecret: (name, value) => secretName.test(name) && (value === undefined || !isHarmless(name, value)),
    text(value) {
      if (!suspicious.test(value)) return longWord.test(value) ? value.replace(secretKeys, hidden) : value;
      // First of all: what is left of a key that was cut up looks like nothing.
      let text = value.replace(pem, hidden);
      if (secretName.test(text)) text = hideNamed(text, hidden);
      text = hideInCommands(text, hidden)
        .replace(bearer, `$1${hidden}`)
        .replace(userInfo, `$1${hidden}@`)
        .replace(userOption, withoutPassword)
        .replace(pgpass, `$1${hidden}`)
        .replace(signature, `$1${hidden}`)
        .replace(secretKeys, hidden);
      for (const { pattern, word } of places) text = text.replace(pattern, word);
      return text.replace(userDirectory, '$1<user>');
    },
  };
}

/** `-u 1000:1000` is an account and its group, but for a program that sends them. */
function withoutPassword(
  whole: string,
  before: string,
  _: string | undefined,
  password: string,
  at: number,
  text: string,
): string {
  const isAccount = /\s\d+:$/.test(before) && /^\d{1,6}$/.test(password);
  return isAccount && !/\bcurl\b/.test(text.slice(Math.max(0, at - 256), at)) ? whole : before + hidden;
}

/** The directories of this process. */
export function pathsOfThisProcess(): RedactedPaths {
  const paths = { home: homedir(), tmp: tmpdir() };
  try {
    return { ...paths, cwd: process.cwd() };
  } catch {
    return paths; // the working directory was removed
  }
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

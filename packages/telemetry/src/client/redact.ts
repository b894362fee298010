import { homedir, tmpdir } from 'node:os';
import { hideEnclosed } from './enclosed-secrets.ts';
import { keyStarts, secretKeys } from './secret-keys.ts';
import { createSecretLines } from './secret-lines.ts';
import { escapes, secretName, secretWords as words } from './secret-names.ts';

/** Takes secrets and persons out of what is reported, before it is queued. */
export interface Redactor {
  /** The text without secrets, and without the names of persons in paths. */
  text(value: string): string;
  /** Whether a member of this name is a secret, whatever its value. */
  isSecret(name: string): boolean;
}

/** Directories of this process; each is replaced by a word where it occurs. */
export interface RedactedPaths {
  readonly home?: string;
  readonly cwd?: string;
  readonly tmp?: string;
}

/** Most texts have none of these, and are let through after one look. */
const suspicious = new RegExp(`[-=:/\\\\@%]|bearer|password|${keyStarts}`, 'i');

// Every expression is linear in the text: it starts at a fixed word, and what may repeat is bounded or ends the match.
const pem = /-----BEGIN [A-Z0-9 ]{1,64}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,64}-----|$)/g;
const header = /\b((?:authorization|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]+/gi;
const bearer = /\b(bearer\s{1,4})[^\s"',;]+/gi;
const quoted = `"[^"\\r\\n]{0,4096}"|'[^'\\r\\n]{0,4096}'`;
/** `token=x`, `"password": "x y"`, and the same within JSON strings in JSON strings, or encoded within a URL. */
const assignment = new RegExp(
  `((?:${words})[\\w-]{0,32}${escapes}["']?\\s{0,4}(?:[:=]>?|%3D)\\s{0,4}${escapes})(?:${quoted}|["']?[^\\s"'&;,]+)`,
  'gi',
);
/** `--token x`. Without the lookbehind every character of a long run would be tried as its start. */
const option = new RegExp(`(?<![\\w-])(--?[\\w-]+)(\\s{1,4})(?:${quoted}|["']?[^\\s"']+)`, 'g');
/** `"--token", "x"`, as lists of arguments are printed. */
const optionItem = new RegExp(
  `(["'])(--?[\\w-]+)(${escapes}["']\\s{0,4},\\s{0,4}${escapes})(?:${quoted})`,
  'g',
);
/** As `.netrc` has it, on one line or on several: `login x password y`. */
const netrc =
  /(\b(?:machine|login|account)\s{1,4}\S{1,256}\s{1,8}password\s{1,4})\S+|^(\s{0,8}password\s{1,4})\S+$/gim;
/** `<password>x</password>` */
const element = new RegExp(`(<[\\w:.-]{0,64}(?:${words})[\\w.-]{0,32}>)[^<\\r\\n]+`, 'gi');
/** `curl -u name:x` */
const userOption = /((?<![\w-])(?:-u|--user|--proxy-user)[\s=]["']?[^\s:"']{1,128}:)[^\s"']+/g;
/** Who has an address that is signed may use it. */
const signature = /([?&](?:sig|(?:x-(?:amz|goog)-)?signature)=)[^\s"'&]+/gi;
/** Up to the last `@`: a password may have one. */
const userInfo = /(:\/\/)[^\s/"'<>]{1,512}@/g;
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
    isSecret: (name) => secretName.test(name),
    text(value) {
      if (!suspicious.test(value)) return value;
      // First of all: what is left of a key that was cut up looks like nothing.
      let text = value.replace(pem, hidden);
      if (secretName.test(text)) text = withoutNamed(text);
      text = text
        .replace(bearer, `$1${hidden}`)
        .replace(userInfo, `$1${hidden}@`)
        .replace(userOption, `$1${hidden}`)
        .replace(signature, `$1${hidden}`)
        .replace(secretKeys, hidden);
      for (const { pattern, word } of places) text = text.replace(pattern, word);
      return text.replace(userDirectory, '$1<user>');
    },
  };
}

/** Without what a name says is a secret. */
function withoutNamed(value: string): string {
  const text = withoutSecretLines(value)
    .replace(header, `$1${hidden}`)
    .replace(
      netrc,
      (_, onOne: string | undefined, alone: string | undefined) => (onOne ?? alone ?? '') + hidden,
    )
    .replace(element, `$1${hidden}`)
    .replace(option, (whole, name: string, gap: string) =>
      secretName.test(name) ? name + gap + hidden : whole,
    )
    .replace(optionItem, (whole, before: string, name: string, between: string) =>
      secretName.test(name) ? before + name + between + hidden : whole,
    );
  return hideEnclosed(text, hidden).replace(assignment, `$1${hidden}`);
}

function withoutSecretLines(text: string): string {
  if (!text.includes('\n')) return text;
  const isSecret = createSecretLines();
  return text
    .split('\n')
    .map((line) => (isSecret(line) ? hidden : line))
    .join('\n');
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

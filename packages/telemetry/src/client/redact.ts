import { homedir, tmpdir } from 'node:os';
import { hideEnclosed } from './enclosed-secrets.ts';
import { createSecretLines } from './secret-lines.ts';
import { secretName, secretWords as words } from './secret-names.ts';

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
const suspicious = /[-=:/\\@]|bearer|eyJ|AKIA|ASIA|gh[pousr]_/i;

// Every expression is linear in the text: it starts at a fixed word, and what may repeat is bounded or ends the match.
const pem = /-----BEGIN [A-Z0-9 ]{1,64}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,64}-----|$)/g;
const header = /\b((?:authorization|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]+/gi;
const bearer = /\b(bearer\s{1,4})[^\s"',;]+/gi;
const quoted = `"[^"\\r\\n]{0,4096}"|'[^'\\r\\n]{0,4096}'`;
/** `token=x`, `"password": "x y"`, and the same escaped within a JSON string. */
const assignment = new RegExp(
  `((?:${words})[\\w-]{0,32}\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?)(?:${quoted}|["']?[^\\s"'&;,]+)`,
  'gi',
);
/** `--token x`. Without the lookbehind every character of a long run would be tried as its start. */
const option = new RegExp(`(?<![\\w-])(--?[\\w-]+)(\\s{1,4})(?:${quoted}|["']?[^\\s"']+)`, 'g');
/** `"--token", "x"`, as lists of arguments are printed. */
const optionItem = new RegExp(`(\\\\?["'])(--?[\\w-]+)(\\\\?["']\\s{0,4},\\s{0,4}\\\\?)(?:${quoted})`, 'g');
/** Up to the last `@`: a password may have one. */
const userInfo = /(:\/\/)[^\s/"'<>]{1,512}@/g;
const keys =
  /\b(?:sk-[\w-]+|eyJ[\w-]{8,}(?:\.[\w-]*){0,2}|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,})/g;
/** Names have spaces, so a person's segment ends at the next separator, quote or line end, not at a blank. */
const userDirectory = /([/\\](?:Users|home)(?:\/|\\{1,2}))[^/\\"'\r\n]+/gi;

const hidden = '[redacted]';

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
      text = text.replace(bearer, `$1${hidden}`).replace(userInfo, `$1${hidden}@`).replace(keys, hidden);
      for (const { pattern, word } of places) text = text.replace(pattern, word);
      return text.replace(userDirectory, '$1<user>');
    },
  };
}

/** Without what a name says is a secret. */
function withoutNamed(value: string): string {
  const text = withoutSecretLines(value)
    .replace(header, `$1${hidden}`)
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

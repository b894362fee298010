import { hideEnclosed } from './enclosed-secrets.ts';
import { createSecretLines } from './secret-lines.ts';
import { escapes, isHarmless, namesInLists, secretName, secretWords as words } from './secret-names.ts';

// Every expression is linear in the text, as those of `redact.ts` are.

/** Up to the end of its line, or the quote around it; `b'authorization', b'x'` is how Python has it. */
const header =
  /\b((?:authorization|cookie)(?:["']\s{0,4},|["']?\s{0,4}[:=])\s{0,4}b?["']?)(?:="[^"\r\n]*"|[^"'\r\n])+/gi;
const quoted = `"[^"\\r\\n]{0,4096}"|'[^'\\r\\n]{0,4096}'`;
const value = `(?:${quoted}|["']?[^\\s"']+)`;
/**
 * `token=x`, `"password": "x y"`, `env["API_KEY"] = "x"`, and the same within JSON strings in JSON strings, or encoded within a
 * URL. What is in quotes ends at a quote that is escaped as often.
 */
const assignment = new RegExp(
  `((?:${words})[\\w-]{0,32})(${escapes}["'\`]?\\]?\\s{0,4}(?:[:=]=?>?|->|%3D)\\s{0,4})(${escapes})` +
    `(?:("""|'''|["'\`])([^\\r\\n]{0,4096}?)(?<!\\\\)\\3\\4|["'\`]?([^\\s"'\`&;,]+))`,
  'gi',
);
/** `--token x`. Without the lookbehind every character of a long run would be tried as its start. */
const option = new RegExp(`(?<![\\w-])(--?[\\w-]+)(\\s{1,4})${value}`, 'g');
/** `"--token", "x"`, as lists of arguments, or of headers, are printed. */
const listed = new RegExp(
  `(["'])(${namesInLists})(${escapes}["']\\s{0,4},\\s{0,4}b?${escapes})(?:${quoted})`,
  'gi',
);
/** `"name": "DB_PASSWORD", "value": "x"`, as variables and settings are listed. */
const named = new RegExp(
  `(\\b(?:name|key)["']?\\s{0,4}[:=]\\s{0,4}["']?[\\w.-]{0,64}(?:${words})[\\w.-]{0,64}["']?,?\\s{0,4}` +
    `["']?value["']?\\s{0,4}[:=]\\s{0,4})${value}`,
  'gi',
);
/** `setenv API_KEY x`, `aws configure set aws_secret_access_key x` */
const setting = new RegExp(
  `(\\b(?:setenv|config(?:ure)? set|set -\\w{1,8})\\s{1,4}[^\\s=]{0,128}(?:${words})[\\w-]{0,32}\\s{1,4})${value}`,
  'gi',
);
/** As `.netrc` has it, on one line or on several: `login x password y`; and the configuration of Redis. */
const netrc =
  /(\b(?:machine|login|account)\s{1,4}\S{1,256}\s{1,8}password\s{1,4})\S+|^(\s{0,8}(?:password|requirepass|masterauth)\s{1,4})\S+$/gim;
/** `<password>x</password>` */
const element = new RegExp(`(<[\\w:.-]{0,64}(?:${words})[\\w.-]{0,32}>)[^<\\r\\n]+`, 'gi');

/** A text without what a name says is a secret. */
export function hideNamed(value: string, hidden: string): string {
  const text = hideLines(value, hidden)
    .replace(header, `$1${hidden}`)
    .replace(
      netrc,
      (_, onOne: string | undefined, alone: string | undefined) => (onOne ?? alone ?? '') + hidden,
    )
    .replace(element, `$1${hidden}`)
    .replace(named, `$1${hidden}`)
    .replace(setting, `$1${hidden}`)
    .replace(option, (whole, name: string, gap: string) =>
      secretName.test(name) ? name + gap + hidden : whole,
    )
    .replace(listed, (whole, before: string, name: string, between: string) =>
      secretName.test(name) ? before + name + between + hidden : whole,
    );
  return hideEnclosed(text, hidden).replace(assignment, (whole, ...parts: (string | undefined)[]) => {
    const [name = '', sign = '', escape = '', quote, inQuotes = '', bare = ''] = parts;
    const word = bare.replace(/[)\]}]{1,32}$/, '');
    const isText = quote === undefined && /^\s*:\s+$/.test(sign);
    if (isHarmless(name, inQuotes + word) || (isText && isProse(name, word))) return whole;
    return name + sign + escape + hidden;
  });
}

/** `PASS: TestAuthor` of a test, `auth: no answer` of a log. */
function isProse(name: string, word: string): boolean {
  if (name === 'PASS') return !/[=:]/.test(word);
  return /^auth$/i.test(name) && /^[a-z]+$/i.test(word);
}

function hideLines(text: string, hidden: string): string {
  if (!text.includes('\n')) return text;
  const isSecret = createSecretLines();
  return text
    .split('\n')
    .map((line) => (isSecret(line) ? hidden : line))
    .join('\n');
}

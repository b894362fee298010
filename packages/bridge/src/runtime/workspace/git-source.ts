import { isJsonObject } from '@sallyport/core';

/** A repository that a session works in: `{type: "git_repository", url, revision?}` of its `session_context.sources`. */
export interface GitSource {
  /** An https, http, ssh, git or file address, `user@host:path`, an absolute path, or `.`: the environment's own repository. */
  readonly url: string;
  /** A branch, tag, full ref or commit; default: what the repository's HEAD is. */
  readonly revision?: string;
}

/** A source that is not taken, in words for whoever sent it. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

export const ownRepository = '.';

const longestUrl = 2048;
const longestRevision = 255;
const schemes = ['https:', 'http:', 'ssh:', 'git:', 'file:'];
/** `user@host:path` and `host:path`, as ssh's own commands write it. */
const scpForm = /^(?:[\w.~+-]+@)?[A-Za-z0-9][\w.-]*:(?!\/\/)[^:]/;
const controls = /\p{Cc}/u;
/** What git's own rules for the names of refs leave out (git-check-ref-format), and what would be an expression. */
const notInRevision = /[\s~^:?*[\\\p{Cc}]|\.\.|@\{|\/\/|\/$|\.$|\.lock$/u;

/**
 * The git sources among a session's `sources`, and the types of those that are none. Throws `SourceError` for one that git
 * must not be given: an option in disguise, a transport that runs commands, credentials.
 */
export function readSources(sources: unknown): {
  readonly git: readonly GitSource[];
  readonly unknown: readonly string[];
} {
  if (!Array.isArray(sources)) return { git: [], unknown: [] };
  const git: GitSource[] = [];
  const unknown: string[] = [];
  for (const source of sources as readonly unknown[]) {
    if (!isJsonObject(source) || source['type'] !== 'git_repository')
      unknown.push(isJsonObject(source) ? String(source['type']) : 'no object');
    else git.push(judgeSource(source['url'], source['revision'] ?? undefined));
  }
  return { git, unknown };
}

/** `URL[@REVISION]`, as a person writes a source. Throws `SourceError`. */
export function parseGitSource(text: string): GitSource {
  const [, url = text, revision] =
    /^((?:[a-z][a-z0-9+.-]*:\/\/[^/]*|[^/:]*@[^/:]*:)?[^@]*)(?:@(.*))?$/is.exec(text) ?? [];
  return judgeSource(url, revision);
}

function judgeSource(url: unknown, revision: unknown): GitSource {
  if (typeof url !== 'string' || url === '') throw new SourceError('a git_repository source has no url');
  const refusal = refusalOf(url);
  if (refusal !== undefined) throw new SourceError(refusal);
  if (revision === undefined) return { url };
  if (typeof revision !== 'string' || revision === '' || revision.length > longestRevision)
    throw new SourceError('the revision of a source is no name');
  if (revision.startsWith('-') || notInRevision.test(revision))
    throw new SourceError(`the revision ${JSON.stringify(revision)} is no name of a branch, tag or commit`);
  return { url, revision };
}

function refusalOf(url: string): string | undefined {
  if (url === ownRepository) return undefined;
  const shown = JSON.stringify(withoutCredentials(url));
  if (url.length > longestUrl || controls.test(url)) return 'the address of a source is no address';
  if (url.startsWith('-')) return `${shown} is an option, no address`;
  // `ext::sh -c ...` and its like run commands.
  if (/^[\w+.-]*::/.test(url)) return `${shown} names a transport that is not allowed`;
  if (!url.includes('://')) {
    if (url.startsWith('/') || scpForm.test(url)) return undefined;
    return `${shown} is no address: give a full one, or an absolute path`;
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !schemes.includes(parsed.protocol)) return `${shown} is no address that git is given here`;
  if (decodeURIComponent(parsed.hostname).startsWith('-')) return `${shown} has an option for a host`;
  const isHttp = parsed.protocol.startsWith('http');
  if (parsed.password !== '' || (isHttp && parsed.username !== ''))
    return `${shown} carries credentials, which everyone who sees the session would have: leave them to git's credential helper on the bridge's machine`;
  return undefined;
}

/** Whether an address that git was given is of this machine. */
export function isLocalAddress(url: string): boolean {
  return /^(\/|\.{1,2}\/|file:)/i.test(url);
}

/** For what is shown: everything between `://` and `@` may open something. */
export function withoutCredentials(text: string): string {
  return text.replace(/(:\/\/)[^/@\s]*@/g, '$1***@');
}

/** What a repository is called: the last part of its address. */
export function repositoryName(url: string): string {
  const last =
    url
      .replace(/(\.git)?\/*$/, '')
      .split(/[/:]/)
      .at(-1) ?? '';
  return /^[\w][\w.-]*$/.test(last) ? last : 'repository';
}

/** The same repository has several addresses: `git@host:a/b.git` and `https://host/a/b` are one. */
export function sameRepository(one: string, other: string): boolean {
  return canonical(one) === canonical(other);
}

function canonical(url: string): string {
  const plain = url.replace(/\/+$/, '').replace(/\.git$/, '');
  if (plain.includes('://')) {
    if (!URL.canParse(plain)) return plain;
    const { protocol, hostname, port, pathname } = new URL(plain);
    return protocol === 'file:' ? pathname : `${hostname}${port && `:${port}`}${pathname}`;
  }
  const [, host, path] = /^(?:[^@/]*@)?([^/:]+):(.+)$/.exec(plain) ?? [];
  return host === undefined || path === undefined ? plain : `${host}/${path.replace(/^\//, '')}`;
}

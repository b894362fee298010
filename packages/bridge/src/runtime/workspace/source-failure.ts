import { shellWord } from '@sallyport/core';
import { GitError } from './git.ts';
import { ownRepository, readSources, SourceError, type GitSource } from './git-source.ts';

/** Git's refusal of a source, and behind it what whoever follows the session can do: its words alone end in "exit code 127". */
export function explained(source: GitSource, error: GitError): GitError {
  return new GitError(`${error.message}\n${nextStep(source)}`, { cause: error });
}

/** `readSources`, whose refusal says the same. */
export function explainingSources(sources: unknown): ReturnType<typeof readSources> {
  try {
    return readSources(sources);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw new SourceError(`${error.message}\n${suchAs}`, { cause: error });
  }
}

const suchAs =
  'A source is an https, http, ssh, git or file address, an absolute path, or `.`, such as: sallyport session run "..." --source https://example.com/team/app@main';

function nextStep({ url, revision = 'HEAD' }: GitSource): string {
  if (url === ownRepository)
    return `Try it in the environment's directory: git rev-parse --verify ${shellWord(revision)}`;
  return `Try it on the bridge's machine, as the bridge's user: git ls-remote ${shellWord(url)}`;
}

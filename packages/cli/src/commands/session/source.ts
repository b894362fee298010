import { CommandError, exitCodes } from '../../io/exit.ts';

/** Sources of `URL[@REVISION]` texts, as a session is created with them. */
export async function sourcesOf(
  texts: readonly string[],
): Promise<{ type: 'git_repository'; url: string }[]> {
  if (texts.length === 0) return [];
  const { parseGitSource, SourceError } = await import('@sallyport/bridge');
  return texts.map((text) => {
    try {
      return { type: 'git_repository', ...parseGitSource(text) };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      throw new CommandError(
        'usage',
        `--source cannot be used: ${error.message}.`,
        exitCodes.usage,
        "Such as: --source https://example.com/team/app@main, or --source . for the environment's own repository.",
        { cause: error },
      );
    }
  });
}

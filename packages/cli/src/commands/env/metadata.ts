import { CommandError, exitCodes } from '../../io/exit.ts';

/** Metadata of `key=value` texts; a value is text as it stands, and may have further `=`. */
export function metadataOf(members: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    members.map((member) => {
      const at = member.indexOf('=');
      if (at > 0) return [member.slice(0, at), member.slice(at + 1)];
      throw new CommandError(
        'usage',
        `--metadata needs KEY=VALUE, not ${JSON.stringify(member)}.`,
        exitCodes.usage,
        'Such as: --metadata os=linux. Other values than text: sallyport api environments.update',
      );
    }),
  );
}

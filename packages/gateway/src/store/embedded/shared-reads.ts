import type { Reader } from './reader.ts';

/** Answers that are kept, at most: a page of a log may have 256 KiB. */
const kept = 16;

/**
 * Answers the same question once between two commits: all who follow a session wake at once and ask for the same page.
 * What is given is shared, so nobody may change it.
 */
export function shareReads(reader: Reader): <T>(question: string, read: () => T) => T {
  /** Rises with every commit: others' on the connection, and its own. */
  const commits = reader.query<{ version: number }>(
    'SELECT data_version + total_changes() AS version FROM pragma_data_version',
  );
  const answers = new Map<string, unknown>();
  let answeredAt: number | undefined;

  return <T>(question: string, read: () => T): T => {
    const version = commits.get()?.version;
    if (version !== answeredAt || answers.size >= kept) answers.clear();
    answeredAt = version;
    if (answers.has(question)) return answers.get(question) as T;
    const answer = read();
    answers.set(question, answer);
    return answer;
  };
}

import { readUserFile, userFilePath } from '../../config/files.ts';
import { foldersOf } from '../../config/settings.ts';

/** The names of the person's profiles; where the file is none of ours, a Tab is no place to say so. */
export function profileNames(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    return Object.keys(readUserFile(userFilePath(foldersOf(env).configDir)).profiles);
  } catch {
    return [];
  }
}

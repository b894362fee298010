const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ENOTDIR: 'a part of the path is no folder',
};

/** Whether a file was not written for want of room, or of quota. */
export function isDiskFull(error: unknown): boolean {
  return errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT';
}

/** Why a file was not written, as the end of a sentence. */
export function whyNotWritten(error: unknown): string {
  // The folder above is there, or its own making would have failed: it is one like /proc.
  if (errnoOf(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'mkdir')
    return 'no folder can be made there';
  return reasons[errnoOf(error)] ?? (error instanceof Error ? error.message : String(error));
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

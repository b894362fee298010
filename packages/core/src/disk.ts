const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
};

/** Whether a file was not written for want of room, or of quota. */
export function isDiskFull(error: unknown): boolean {
  return errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT';
}

/** Why a file was not written, as the end of a sentence. */
export function whyNotWritten(error: unknown): string {
  return reasons[errnoOf(error)] ?? (error instanceof Error ? error.message : String(error));
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

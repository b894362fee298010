import { reasonOf } from './reason.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  EMFILE: 'too many files are open',
};

/** Whether a file was not written for want of room, or of quota. */
export function isDiskFull(error: unknown): boolean {
  return errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT';
}

/** Why a file was not written, as the end of a sentence. */
export function whyNotWritten(error: unknown): string {
  // The folder above is there, or its own making would have failed: it is one like /proc.
  if (/^mk(dir|dtemp)$/.test(syscallOf(error))) {
    if (errnoOf(error) === 'ENOENT') return 'no folder can be made there';
    if (errnoOf(error) === 'EEXIST') return 'a part of the path is no folder';
  }
  return reasons[errnoOf(error)] ?? reasonOf(error);
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function syscallOf(error: unknown): string {
  return error instanceof Error && 'syscall' in error ? String(error.syscall) : '';
}

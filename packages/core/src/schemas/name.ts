import { z } from 'zod';

/**
 * What can be seen, and the joiners that some scripts and emoji need: other characters could steer a terminal, turn the text
 * around them (UAX 9), or make two names look alike.
 */
export const nameForm = /^(?:[^\p{C}\p{Zl}\p{Zp}]|\p{Join_C})*$/u;

/** A name that people read in lists. */
export const Name = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .refine((name) => nameForm.test(name), 'must not have control characters, or others that cannot be seen');

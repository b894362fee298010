import { z } from 'zod';

/** Characters of a description, counted as code points. */
const maxDescriptionCharacters = 20_000;

/** The form's fields; `bundle` is a ZIP. */
export const FeedbackForm = z.looseObject({
  description: z
    .string()
    .refine((text) => text.trim() !== '', 'must not be blank')
    .refine(
      (text) => Array.from(text).length <= maxDescriptionCharacters,
      `must not have more than ${maxDescriptionCharacters} characters`,
    )
    .describe(`at most ${maxDescriptionCharacters} characters`),
  bundle: z.file().describe('a ZIP file'),
});

/** What to do about a refusal that is no matter of the command. */
export const forAdmins: Readonly<Record<string, string>> = {
  forbidden: 'An admin of the organization may: see what you may do with sallyport access.',
};

/** The headers of an answer that is the caller's alone. */
export const ownAnswer = { 'cache-control': 'private, no-store', vary: 'Authorization, X-Api-Key' } as const;

/** The default of `limit`. */
export const defaultPageLimit = 100;

export const maxPageLimit = 1000;

/** The maximum number of invitations that one request makes, renews, or revokes. */
export const maxInvitationsAtOnce = 100;

/** Lists count the matching entries up to this number plus one. */
export const maxCounted = 10_000;

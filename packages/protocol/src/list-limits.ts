/** The default of `limit`. */
export const defaultPageLimit = 100;

export const maxPageLimit = 1000;

/** Lists count the matching entries up to this number plus one. */
export const maxCounted = 10_000;

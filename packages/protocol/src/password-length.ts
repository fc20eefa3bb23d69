/** The fewest characters (code points) of a password. */
export const minPasswordLength = 10;

/** The most characters of a password; more than anybody types, few enough to hash. */
export const maxPasswordLength = 256;

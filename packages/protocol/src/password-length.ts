/** The minimum length of a password, in code points. */
export const minPasswordLength = 10;

/** The maximum length of a password, in code points. */
export const maxPasswordLength = 256;

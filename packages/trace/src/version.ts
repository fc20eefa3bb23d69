/** The version of this package, as exported spans name it. A test holds it equal to `package.json`. */
export const version = '0.1.0';

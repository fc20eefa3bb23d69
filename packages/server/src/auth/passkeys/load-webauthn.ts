/** Loads the library at its first use: it is hundreds of files, and a server without passkeys needs none of them. */
export const loadWebauthn = () => import('@simplewebauthn/server');

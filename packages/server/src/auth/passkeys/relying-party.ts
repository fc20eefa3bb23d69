/** The server as a relying party (https://www.w3.org/TR/webauthn-3/#relying-party). */
export interface RelyingParty {
  /** The host name of the public URL. Its path and port don't matter to authenticators. */
  readonly id: string;
  /** The only origin whose pages may use the passkeys. */
  readonly origin: string;
}

/** @param baseUrl the public URL of the server */
export function relyingPartyOf(baseUrl: string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

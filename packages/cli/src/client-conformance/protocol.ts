/* The protocol between `tenon client-conformance` and the client under test. */

/** The variables that a client gets, as the help and the guide show them. */
export const clientVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['TENON_URL', "the server's base URL"],
  ['TENON_TOKEN', 'the access token, for the header "authorization: Bearer <token>"'],
  ['TENON_EXTENSION_POINT_ID', 'the extension point'],
  ['TENON_GUEST_KEY', 'the guest key, to be percent-encoded as one path segment'],
  ['TENON_CACHE_DIR', 'the folder of the disk cache; it may be missing, and unusable'],
];

export const protocolHelp = `
The command starts one client, which runs until it is killed. It gets these variables:

${clientVariables.map(([name, meaning]) => `  ${name.padEnd(26)}${meaning}`).join('\n')}

At its start and after each change, the client writes one line of JSON to stdout: the plugins that it would run, by name, each
with the SHA-256 of its bytes in base64url, such as {"greet":"kJyL…"}. Without plugins it writes {}, or nothing before the first
response. Errors go to stderr. The client must:

  - follow /changes, and ask for the list on "ready", "reset", and "binding" events, and before each connection
  - after an error, try again with backoff, not before the time in "retry-after", and keep what it had meanwhile
  - give up a response without bytes for 10 s, and a stream without bytes for 20 s
  - show what its cache has, verified, before the server has responded

The exit code is 0 if no case fails, and 1 if one does. A case waits as long as --timeout for a state.
`;

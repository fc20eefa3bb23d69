/** What routes are grouped under in the description of the interface, and what each group is for. */
export const tags = {
  Distribution: 'what a host needs: list what is bound to a guest key, and fetch it by its address',
  Plugins: 'publish plugins, and look at those that are published',
  Versions: "a plugin's history: look back, roll back, yank, restore, approve",
  "The host's control": 'what the application decides: which version is bound, which plugin is not',
  Applications: 'applications and their members',
  'Extension points': 'what an application lets plugins extend, with its schema',
  Guests: 'who may publish under which guest key, and the invitations that let them',
  Invitations: 'accept or decline an invitation, as the one who was invited',
  'Tokens and keys': 'who one is, and what opens the two areas',
  Account: "one's own account and where it is signed in",
  'Browser session': 'sign-in for the pages of a browser, which these alone use: other origins are refused',
  'Command-line login': 'OAuth 2.0: how a program gets an access token that a person approves',
  Instrumentation: 'add tracing to a module',
  Operation: "the server's health, and its descriptions of itself",
  Pages: 'for people with a browser',
} as const;

export type Tag = keyof typeof tags;

/** What routes are grouped under in the description of the interface, and what each group is for. */
export const tags = {
  Distribution: 'what a host needs: list what is bound to a guest key, and fetch it by its address',
  Plugins: 'publish plugins, and look at those that are published',
  Applications: 'applications and their members',
  'Extension points': 'what an application lets plugins extend, with its schema',
  Guests: 'who may publish under which guest key, and the invitations that let them',
  Invitations: 'accept or decline an invitation, as the one who was invited',
  'Tokens and keys': 'who one is, and what opens the two areas',
  Instrumentation: 'add tracing to a module',
  Operation: "the server's health, and its descriptions of itself",
  Pages: 'for people with a browser',
} as const;

export type Tag = keyof typeof tags;

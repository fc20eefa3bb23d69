/** The tags of the OpenAPI description, with their descriptions. */
export const tags = {
  Distribution: 'for hosts: list the plugins bound to a guest key, and fetch their bytes',
  Plugins: 'publish, read, and delete plugins',
  Versions: "a plugin's versions: list, roll back, yank, restore, approve",
  'Host control': "the application's decisions: pin bindings, block plugins, end withdrawals",
  Applications: 'applications and their members',
  'Extension points': "an application's extension points and their schemas",
  Guests: "an application's guests and their invitations",
  Invitations: 'accept or decline an invitation',
  'Tokens and keys': 'access tokens for the API, and API keys for instrumentation',
  Account: 'your account and its browser sessions',
  'Browser session': "sign-in for the console's pages; requests from other origins are rejected",
  'Command-line login': 'OAuth 2.0: a program gets an access token that a person approves',
  Instrumentation: 'add tracing to a module',
  Operation: "the server's health, status, and API description",
  Pages: 'pages for browsers',
} as const;

export type Tag = keyof typeof tags;

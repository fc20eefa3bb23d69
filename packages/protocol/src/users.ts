import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

/* The users of a server, as operators see them. */

export const user = Type.Object({
  id: id('user', 'the user'),
  name: Type.String(),
  email: nullable(Type.String(), {
    description: 'the e-mail address, which may be unverified; `null` if there is none',
  }),
  isOperator: Type.Boolean(),
  createdAt: timestamp('when the account was created'),
  lastSeenAt: nullable(timestamp('when a session, token or key of the user was last used, to the hour')),
  suspendedAt: nullable(timestamp('when an operator suspended the user; `null` if the user is not suspended')),
  appCount: Type.Integer({
    description: 'the number of applications that the user belongs to, as a member or a guest',
  }),
});
export type User = Static<typeof user>;

export const userDetails = Type.Object({
  ...user.properties,
  apps: Type.Array(
    Type.Object({
      id: id('app', 'the application'),
      name: Type.String(),
      role: oneOf(['owner', 'admin', 'viewer', 'guest']),
    }),
    { description: 'the first 20 applications' },
  ),
  pluginCount: Type.Integer({ description: 'plugins that the user has published' }),
  sessionCount: Type.Integer({ description: 'browser sessions' }),
  tokenCount: Type.Integer({ description: 'access tokens that have not expired' }),
  apiKeyCount: Type.Integer({ description: 'API keys that have not expired' }),
});
export type UserDetails = Static<typeof userDetails>;

/** A user who has no e-mail address gets this one, to sign in with. */
export const passwordLinkInput = Type.Object({
  email: Type.Optional(
    Type.String({ minLength: 1, maxLength: 254, description: 'only for a user without an e-mail address' }),
  ),
});

export const passwordLink = Type.Object({
  link: Type.String({ description: 'sets the password and ends the sessions of the account; works once' }),
  expiresAt: timestamp('when it stops working'),
});
export type PasswordLink = Static<typeof passwordLink>;

import type { Static } from 'typebox';
import { displayName, id, timestamp } from './fields.ts';
import { maxPasswordLength, minPasswordLength } from './password-length.ts';
import { app, mayCreateApps, memberRole, tokenScope } from './schemas.ts';
import { Type } from './type.ts';

/** Accounts, sign-in and sessions, as they go over the wire. */

// Its form is the domain's to judge: a text that is no address and one that nobody has are answered alike at sign-in.
const emailField = Type.String({ minLength: 1, maxLength: 254, description: 'an e-mail address; case does not count' });

const passwordField = (what: string) => Type.String({ minLength: 1, maxLength: 1024, description: what });

const newPasswordField = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: `${minPasswordLength} to ${maxPasswordLength} characters, and none that is commonly used or leaked`,
});

/** Who may make an account: everybody, who holds an invitation's link or the operator's, or only who holds the operator's. */
export const signUpMode = Type.Union([Type.Literal('open'), Type.Literal('invitation'), Type.Literal('off')]);
export type SignUpMode = Static<typeof signUpMode>;

/** Which accounts may make applications; `members`: operators and those that belong to a team already. */
export const createAppsMode = Type.Union([Type.Literal('operators'), Type.Literal('members'), Type.Literal('all')]);
export type CreateAppsMode = Static<typeof createAppsMode>;

/** Whoever is signed in. */
export const account = Type.Object({
  id: id('user', 'the user'),
  name: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
  isOperator: Type.Boolean({ description: "whether one may see the server's status" }),
  mayCreateApps,
});
export type Account = Static<typeof account>;

/** What a page needs to know before anything else. */
export const sessionState = Type.Object({
  signUp: signUpMode,
  createApps: createAppsMode,
  maxModuleBytes: Type.Integer({ description: 'the largest module that the server accepts, in bytes' }),
  account: Type.Union([account, Type.Null()], {
    description: 'who is signed in in this browser; `null` when nobody is',
  }),
});
export type SessionState = Static<typeof sessionState>;

export const signInInput = Type.Object({ email: emailField, password: passwordField('the password') });
export type SignInInput = Static<typeof signInInput>;

/** A new account. Where sign-up is not open to everybody it takes one of the two codes. */
export const signUpInput = Type.Object({
  name: displayName('shown to the teams and guests that one works with'),
  email: emailField,
  password: newPasswordField,
  invitationCode: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "an invitation link's code" }),
  ),
  linkCode: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'the code of a set-up link, which the operator gives' }),
  ),
});
export type SignUpInput = Static<typeof signUpInput>;

/** A short-lived access token for the pages of the browser that is signed in; it ends with the session. */
export const sessionToken = Type.Object({
  accessToken: Type.String({ description: '`tnn_…`' }),
  scopes: Type.Array(tokenScope),
  expiresAt: timestamp('when it stops working'),
});
export type SessionToken = Static<typeof sessionToken>;

export const passwordConfirmation = Type.Object({ password: passwordField('the password of the account') });
export type PasswordConfirmation = Static<typeof passwordConfirmation>;

export const passwordReset = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 200, description: "the link's code, which the operator gives" }),
  password: newPasswordField,
  revokeTokens: Type.Optional(
    Type.Boolean({ description: 'revoke all access tokens and API keys too; default `true`' }),
  ),
});
export type PasswordReset = Static<typeof passwordReset>;

/** What a one-time link is for, before it is used. */
export const oneTimeLinkInfo = Type.Object({
  purpose: Type.Union([Type.Literal('set_up'), Type.Literal('reset_password')]),
  email: Type.Union([Type.String(), Type.Null()], { description: 'whose password it resets' }),
  expiresAt: timestamp('when it stops working'),
});
export type OneTimeLinkInfo = Static<typeof oneTimeLinkInfo>;

export const linkCode = Type.Object({ code: Type.String({ minLength: 1, maxLength: 200 }) });

/** A browser that is signed in. */
export const session = Type.Object({
  id: id('session', 'the session'),
  userAgent: Type.Union([Type.String(), Type.Null()], { description: 'what the browser said of itself at sign-in' }),
  address: Type.String({ description: 'the network address that signed in' }),
  isCurrent: Type.Boolean({ description: 'whether the asking token belongs to it' }),
  createdAt: timestamp('when somebody signed in'),
  lastUsedAt: timestamp('when it was last used, to the minute'),
  expiresAt: timestamp('when it ends by itself'),
});
export type Session = Static<typeof session>;

/** A `PUT` that leaves a field out keeps that field's value. */
export const accountUpdate = Type.Object({ name: Type.Optional(displayName('shown to teams and guests')) });
export type AccountUpdate = Static<typeof accountUpdate>;

export const passwordChange = Type.Object({
  currentPassword: passwordField('the password until now'),
  newPassword: newPasswordField,
  revokeTokens: Type.Optional(
    Type.Boolean({ description: 'revoke all access tokens and API keys too; default `false`' }),
  ),
});
export type PasswordChange = Static<typeof passwordChange>;

/** Deleting an account takes its password again, where it has one. */
export const accountDeletion = Type.Object({ password: Type.Optional(passwordField('the password of the account')) });
export type AccountDeletion = Static<typeof accountDeletion>;

/** What the holder of an invitation's code may know before deciding: never the guest key. */
export const invitationPreview = Type.Object({
  app: Type.Object({ id: app.properties.id, name: Type.String() }),
  role: Type.Union([memberRole, Type.Literal('guest')], { description: 'what the user who accepts it becomes' }),
  invitedBy: Type.Union([Type.String(), Type.Null()], {
    description: "the name of the member who invites to the team; `null` for a guest's invitation",
  }),
  expiresAt: timestamp('when it stops working'),
  allowsSignUp: Type.Boolean({ description: 'whether an account can be made with the code' }),
});
export type InvitationPreview = Static<typeof invitationPreview>;

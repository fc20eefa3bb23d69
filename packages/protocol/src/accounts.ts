import type { Static } from 'typebox';
import { displayName, id, nullable, oneOf, timestamp } from './fields.ts';
import { memberRole } from './guests.ts';
import { maxPasswordLength, minPasswordLength } from './password-length.ts';
import { app, hasPassword, isEmailVerified, mayCreateApps, notices, tokenScope } from './schemas.ts';
import { signInProvider } from './sign-in-providers.ts';
import { Type } from './type.ts';

/* Accounts, sign-in and sessions. */

// Without a pattern, so that sign-in responds the same to a malformed and to an unknown address.
const emailField = Type.String({ minLength: 1, maxLength: 254, description: 'an e-mail address; case does not count' });

const passwordField = (what: string) => Type.String({ minLength: 1, maxLength: 1024, description: what });

const newPasswordField = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: `${minPasswordLength} to ${maxPasswordLength} characters; not a commonly used or leaked password`,
});

/** Who may sign up: everyone, everyone with an invitation or a link of the operator, or only with a link of the operator. */
export const signUpMode = oneOf(['open', 'invitation', 'off']);
export type SignUpMode = Static<typeof signUpMode>;

/** Which accounts may create applications. `members` means operators and members of any team. */
export const createAppsMode = oneOf(['operators', 'members', 'all']);
export type CreateAppsMode = Static<typeof createAppsMode>;

/** The account of the signed-in user. */
export const account = Type.Object({
  id: id('user', 'the user'),
  name: Type.String(),
  email: nullable(Type.String()),
  isOperator: Type.Boolean({ description: 'whether the account is an operator of the server' }),
  mayCreateApps,
  isEmailVerified,
  hasPassword,
  notices,
});
export type Account = Static<typeof account>;

export const sessionState = Type.Object({
  signUp: signUpMode,
  createApps: createAppsMode,
  maxModuleBytes: Type.Integer({ description: 'the largest module that the server accepts, in bytes' }),
  sendsMail: Type.Boolean({ description: 'whether the server can send mail' }),
  passwordSignIn: Type.Boolean({ description: 'whether users may sign in with a password' }),
  providers: Type.Array(signInProvider, { description: 'the providers with which users may sign in' }),
  account: nullable(account, {
    description: 'the account that is signed in; `null` if none is',
  }),
  secondFactor: Type.Optional(
    Type.Object(
      {
        expiresAt: timestamp('when the password must be entered again'),
        hasRecoveryCodes: Type.Boolean({ description: 'whether the account has unused recovery codes' }),
      },
      { description: 'after a correct password: the account needs its passkey or a recovery code too' },
    ),
  ),
});
export type SessionState = Static<typeof sessionState>;

export const signInInput = Type.Object({ email: emailField, password: passwordField('the password') });
export type SignInInput = Static<typeof signInInput>;

/** A new account. Unless sign-up is open, one of the two codes is required. */
export const signUpInput = Type.Object({
  name: displayName('shown to teams and guests'),
  email: emailField,
  password: newPasswordField,
  invitationCode: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "an invitation link's code" }),
  ),
  linkCode: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "the code of the operator's set-up link" }),
  ),
});
export type SignUpInput = Static<typeof signUpInput>;

/** A short-lived access token for the console's pages. It ends with the session. */
export const sessionToken = Type.Object({
  accessToken: Type.String({ description: '`tnn_…`' }),
  scopes: Type.Array(tokenScope),
  expiresAt: timestamp('when it stops working'),
});
export type SessionToken = Static<typeof sessionToken>;

/** What the document of a console page contains for a browser that is signed in. */
export interface PageStart {
  readonly session: SessionState;
  /** A token with the scope `read`, valid for a minute: for the first requests of the page. */
  readonly accessToken: string;
}

export const passwordReset = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 200, description: "the code of the operator's link" }),
  password: newPasswordField,
  revokeTokens: Type.Optional(
    Type.Boolean({ description: 'revoke all access tokens and API keys too; default `true`' }),
  ),
});
export type PasswordReset = Static<typeof passwordReset>;

/** The purpose of a one-time link, before it is used. */
export const oneTimeLinkInfo = Type.Object({
  purpose: oneOf(['set_up', 'reset_password']),
  email: nullable(Type.String(), { description: 'the e-mail address of the account whose password the link resets' }),
  expiresAt: timestamp('when it stops working'),
});
export type OneTimeLinkInfo = Static<typeof oneTimeLinkInfo>;

export const linkCode = Type.Object({ code: Type.String({ minLength: 1, maxLength: 200 }) });

export const session = Type.Object({
  id: id('session', 'the session'),
  userAgent: nullable(Type.String(), { description: "the browser's `user-agent` at sign-in" }),
  address: Type.String({ description: 'the network address at sign-in' }),
  isCurrent: Type.Boolean({ description: "whether the request's token belongs to it" }),
  createdAt: timestamp('when it started'),
  lastUsedAt: timestamp('when it was last used, to the minute'),
  lastUsedAddress: nullable(Type.String(), { description: 'the network address of its last use' }),
  expiresAt: timestamp('when it expires'),
});
export type Session = Static<typeof session>;

/** A login that the user approved and whose token the program has not fetched yet. */
export const pendingLogin = Type.Object({
  id: id('deviceGrant', 'the login'),
  deviceName: nullable(Type.String()),
  address: Type.String({ description: 'the network address of the program' }),
  scopes: Type.Array(tokenScope),
  createdAt: timestamp('when the program started it'),
  expiresAt: timestamp('when it expires'),
});
export type PendingLogin = Static<typeof pendingLogin>;

export const revokeAllInput = Type.Object({
  includeCurrent: Type.Optional(
    Type.Boolean({ description: 'also the session or the token of the request; default `false`' }),
  ),
});

/** The numbers of revoked credentials that had not expired. */
export const revokedCredentials = Type.Object({
  sessions: Type.Integer(),
  tokens: Type.Integer(),
  apiKeys: Type.Integer(),
});
export type RevokedCredentials = Static<typeof revokedCredentials>;

/** A `PUT` that leaves a field out keeps that field's value. */
export const accountUpdate = Type.Object({
  name: Type.Optional(displayName('shown to teams and guests')),
  notices: Type.Optional(Type.Partial(notices)),
});

/** An address whose account's password is forgotten. */
export const passwordLinkRequest = Type.Object({ email: emailField });

export const emailChange = Type.Object({ email: emailField });

export const passwordChange = Type.Object({
  currentPassword: passwordField('the current password'),
  newPassword: newPasswordField,
  revokeTokens: Type.Optional(
    Type.Boolean({ description: 'revoke all access tokens and API keys too; default `false`' }),
  ),
});

/** Deleting an account requires its password, if it has one. */
export const accountDeletion = Type.Object({ password: Type.Optional(passwordField('the password of the account')) });

/** What the holder of an invitation code may see before deciding. The guest key is never included. */
export const invitationPreview = Type.Object({
  app: Type.Object({ id: app.properties.id, name: Type.String() }),
  role: Type.Union([memberRole, Type.Literal('guest')], {
    description: 'the role of the user who accepts the invitation',
  }),
  invitedBy: nullable(Type.String(), {
    description: "the name of the member who sent the invitation to the team; `null` for a guest's invitation",
  }),
  guestLabel: nullable(Type.String(), { description: 'the label of the guest that it invites to' }),
  expiresAt: timestamp('when it stops working'),
  allowsSignUp: Type.Boolean({ description: 'whether the code allows sign-up' }),
});
export type InvitationPreview = Static<typeof invitationPreview>;

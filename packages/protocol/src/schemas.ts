import type { Static } from 'typebox';
import { displayName, id, nullable, oneOf, timestamp } from './fields.ts';
import { heldGuest, memberRole } from './guests.ts';
import { maxCounted } from './list-limits.ts';
import { contentAddressPattern, pluginNamePattern } from './names.ts';
import { pluginAboutFields } from './plugin-about.ts';
import { ciClaims, maxTokenNetworks, ownPlugin } from './trust.ts';
import { Type } from './type.ts';
import { pluginStatus, similarPlugin, versionSummary } from './versions.ts';

export const tokenScope = oneOf(['read', 'publish', 'manage']);
export type TokenScope = Static<typeof tokenScope>;

/** An application, for its members and guests. */
export const app = Type.Object({
  id: id('app', 'the application'),
  name: Type.String(),
  requiresPasskey: Type.Boolean({ description: 'whether its members need a passkey' }),
  role: Type.Union([memberRole, Type.Literal('guest')], { description: "the requesting user's role in it" }),
  guests: Type.Array(heldGuest, { description: 'the guests that the requesting user holds in it; at most 5,000' }),
  hasMoreGuests: Type.Boolean({ description: 'whether the requesting user holds more guests than these' }),
  createdAt: timestamp('when it was created'),
  updatedAt: timestamp('when it last changed'),
});
export type App = Static<typeof app>;

export const appInput = Type.Object({ name: displayName('shown to members and guests') });

/** A `PUT` that leaves a field out keeps that field's value. */
export const appUpdate = Type.Object({
  ...Type.Partial(appInput).properties,
  requiresPasskey: Type.Optional(
    Type.Boolean({ description: 'whether its members need a passkey; only owners with a passkey can change it' }),
  ),
});

const counted = (what: string) =>
  Type.Integer({ description: `the number of ${what}; ${maxCounted + 1} means more than ${maxCounted}` });

/** The numbers of an application, for its members. */
export const appOverview = Type.Object({
  extensionPoints: counted('extension points'),
  plugins: counted('plugins'),
  blockedPlugins: counted('blocked plugins'),
  guests: counted('guests'),
  pendingInvitations: counted('invitations that can still be accepted, of guests and to the team'),
  awaitingApproval: counted('versions that await approval'),
  members: counted('members of the team'),
  firstExtensionPoints: Type.Array(
    Type.Object({ id: id('extensionPoint', 'an extension point'), name: Type.String() }),
    { description: 'the first 50 extension points by name, without their schemas' },
  ),
  example: Type.Object(
    {
      extensionPoint: nullable(Type.Object({ id: id('extensionPoint', 'an extension point'), name: Type.String() })),
      guestKey: nullable(Type.String()),
      pluginName: nullable(Type.String({ description: 'a plugin that hosts get for this guest key' })),
    },
    { description: 'one of each, for a first request: of an active plugin, if there is one' },
  ),
});
export type AppOverview = Static<typeof appOverview>;

export const member = Type.Object({
  userId: id('user', 'the member'),
  name: Type.String({ description: "the user's name" }),
  role: memberRole,
  guestIds: Type.Array(id('guest', 'a guest'), {
    description: 'the first 20 guests that the member holds in the application',
  }),
  hasMoreGuests: Type.Boolean({ description: 'whether the member holds more guests than these' }),
  createdAt: timestamp('when the user became a member'),
});
export type Member = Static<typeof member>;

export const memberInput = Type.Object({ role: memberRole });

/** What happens to a member's guests when the member is removed. */
export const memberRemovalQuery = Type.Object({
  guests: Type.Optional(
    oneOf(['keep', 'remove'], {
      description: "whether to remove the member's guests too; default `keep`",
    }),
  ),
});

/** One entry of A2's object. */
export const binding = Type.Object({
  id: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  contentAddress: Type.String({ pattern: contentAddressPattern }),
  updatedAt: timestamp('when the binding last changed'),
});
export type Binding = Static<typeof binding>;

/** The response of A2: the bindings of the guest key by plugin name, in code-unit order. */
export const bindingList = Type.Record(Type.String({ pattern: pluginNamePattern }), binding);
export type BindingList = Record<string, Binding>;

const pluginFields = {
  id: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  extensionPointId: id('extensionPoint', 'the extension point'),
  userId: id('user', 'the publisher'),
  userName: Type.String({ description: "the publisher's name" }),
  name: Type.String({ pattern: pluginNamePattern }),
  ...pluginAboutFields,
  contentAddress: Type.String({ pattern: contentAddressPattern, description: 'of the newest version' }),
  size: Type.Integer({ description: "the newest version's size in bytes" }),
  version: versionSummary,
  status: pluginStatus,
  guestIds: Type.Array(id('guest', 'a guest'), {
    description: 'those of its first 5,000 guests under which it is bound',
  }),
  hasMoreGuests: Type.Boolean({
    description: 'whether it has more than 5,000 guests; `guestIds` and `status` cover the first 5,000',
  }),
  similarPlugins: Type.Optional(
    Type.Array(similarPlugin, {
      description: 'plugins of other publishers with similar names, for members; absent in lists',
    }),
  ),
  createdAt: timestamp('when it was first published'),
  updatedAt: timestamp('when its newest version was published'),
};

/** A plugin, for its publisher and the application's members. */
export const plugin = Type.Object(pluginFields);
export type Plugin = Static<typeof plugin>;

/** A plugin in the list of an application's plugins. Its size doesn't depend on the number of guests. */
export const pluginSummary = Type.Object({
  id: plugin.properties.id,
  extensionPoint: Type.Object({ id: id('extensionPoint', 'the extension point'), name: Type.String() }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  name: plugin.properties.name,
  description: plugin.properties.description,
  contentAddress: plugin.properties.contentAddress,
  size: plugin.properties.size,
  version: plugin.properties.version,
  state: pluginStatus.properties.state,
  reason: pluginStatus.properties.reason,
  activeVersions: Type.Array(Type.Integer(), {
    description: 'the numbers of the versions that guests get, the highest first; at most 5',
  }),
  guests: Type.Array(Type.Object({ id: id('guest', 'a guest'), guestKey: Type.Optional(Type.String()) }), {
    description: 'the first 3 guests that get a version; with their keys for members',
  }),
  guestCount: Type.Integer({ description: 'the number of guests that get a version' }),
  hasMoreGuests: Type.Boolean({ description: 'whether there are more than 5,000, of which `guestCount` is a part' }),
  createdAt: plugin.properties.createdAt,
  updatedAt: plugin.properties.updatedAt,
});
export type PluginSummary = Static<typeof pluginSummary>;

export const publishedPlugin = Type.Object({
  ...pluginFields,
  isNewVersion: Type.Boolean({
    description: 'whether the publish created a version; `false` if the newest version has the same bytes',
  }),
});
export type PublishedPlugin = Static<typeof publishedPlugin>;

const lastUsedAddress = () =>
  Type.Optional(
    nullable(Type.String(), {
      description:
        'the network address of its last use; only for a token of the account that has the scope `manage` and is not restricted',
    }),
  );

export const tokenInfo = Type.Object({
  id: id('token', 'the token'),
  name: Type.String(),
  scopes: Type.Array(tokenScope),
  appId: nullable(id('app', 'the one application it is restricted to')),
  plugin: nullable(ownPlugin, { description: 'the one plugin it is restricted to' }),
  guestId: nullable(id('guest', 'the one guest it may publish under')),
  networks: nullable(Type.Array(Type.String()), { description: 'the networks it works from; `null`: all' }),
  trustRuleId: nullable(id('trustRule', 'the rule of trusted publishing that issued it')),
  claims: nullable(ciClaims, { description: 'the CI job that it was issued to' }),
  createdAt: timestamp('when it was created'),
  expiresAt: timestamp('when it stops working'),
  lastUsedAt: nullable(timestamp('when it was last used, to the minute')),
  lastUsedAddress: lastUsedAddress(),
});
export type TokenInfo = Static<typeof tokenInfo>;

export const tokenInput = Type.Object({
  name: displayName('to distinguish it from others'),
  scopes: Type.Optional(
    Type.Array(tokenScope, {
      minItems: 1,
      uniqueItems: true,
      description: "default: the scopes of the request's token",
    }),
  ),
  appId: Type.Optional(id('app', 'restrict it to one application')),
  plugin: Type.Optional(
    Type.Object(ownPlugin.properties, {
      description:
        'restrict it to one of your plugins, which need not exist yet: it publishes, rolls back, yanks, and reads it',
    }),
  ),
  networks: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), {
      minItems: 1,
      maxItems: maxTokenNetworks,
      description: 'restrict it to networks: IPv4 or IPv6 addresses, or CIDR blocks such as `192.0.2.0/24`',
    }),
  ),
  expiresInDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description:
        "default 90; with `publish` or `manage`, default 7 and at most 90; never beyond the end of a program's own token",
    }),
  ),
});
export type TokenInput = Static<typeof tokenInput>;

export const tokenCreated = Type.Intersect([
  tokenInfo,
  Type.Object({ token: Type.String({ description: '`tnn_…`; shown only once' }) }),
]);
export type TokenCreated = Static<typeof tokenCreated>;

export const apiKeyInfo = Type.Object({
  id: id('apiKey', 'the API key'),
  name: Type.String(),
  createdAt: timestamp('when it was created'),
  expiresAt: timestamp('when it stops working'),
  lastUsedAt: nullable(timestamp('when it was last used, to the minute')),
  lastUsedAddress: lastUsedAddress(),
});
export type ApiKeyInfo = Static<typeof apiKeyInfo>;

export const apiKeyInput = Type.Object({
  name: displayName('to distinguish it from others'),
  expiresInDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description: "default 90; never beyond the end of a program's own token",
    }),
  ),
});

export const apiKeyCreated = Type.Intersect([
  apiKeyInfo,
  Type.Object({ apiKey: Type.String({ description: '`tnk_…`; shown only once' }) }),
]);
export type ApiKeyCreated = Static<typeof apiKeyCreated>;

export const mayCreateApps = Type.Boolean({ description: 'whether the account may create applications' });

export const isEmailVerified = Type.Boolean({
  description: 'whether a link that was mailed to `email` was opened; the server mails notices only then',
});

export const hasPassword = Type.Boolean({ description: 'whether the account has a password' });

/** Which notices the server mails to a user. */
export const notices = Type.Object({
  approvals: Type.Boolean({ description: 'versions that wait for approval in your applications' }),
  withdrawals: Type.Boolean({ description: 'your plugins and versions that a team blocked or yanked' }),
  signIns: Type.Boolean({ description: 'sign-ins in a browser that is new to your account' }),
  newNetworks: Type.Boolean({ description: 'uses of your tokens and API keys from a network that is new to them' }),
  expiries: Type.Boolean({ description: 'your tokens and API keys that expire soon' }),
  quotas: Type.Boolean({ description: 'quotas of your account and your applications that are nearly used up' }),
  webhooks: Type.Boolean({ description: 'webhooks of your applications that the server disabled' }),
  rollOuts: Type.Boolean({ description: 'roll-outs in your applications that were halted' }),
});
export type Notices = Static<typeof notices>;

/** The account and the token of the request. */
export const me = Type.Object({
  id: id('user', 'the user'),
  name: Type.String(),
  email: nullable(Type.String()),
  isOperator: Type.Optional(Type.Boolean({ description: 'whether you are an operator of the server' })),
  mayCreateApps: Type.Optional(mayCreateApps),
  isEmailVerified: Type.Optional(isEmailVerified),
  hasPassword: Type.Optional(hasPassword),
  notices: Type.Optional(notices),
  token: tokenInfo,
});
export type Me = Static<typeof me>;

/** An error response: `application/problem+json` (RFC 9457). */
export const problem = Type.Object({
  type: Type.String({ description: 'a link to the error in the reference' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.String({ description: 'a stable error code, listed in the reference' }),
  errors: Type.Optional(
    Type.Array(
      Type.Object({ pointer: Type.String({ description: 'JSON Pointer into the body' }), detail: Type.String() }),
    ),
  ),
});
export type Problem = Static<typeof problem>;

import type { Static } from 'typebox';
import { id, timestamp } from './fields.ts';
import { contentAddressPattern, maxReasonLength, pluginNamePattern } from './names.ts';
import { Type } from './type.ts';

/** A plugin's versions, what the host decides about them, and what is bound because of it, as they go over the wire. */

/** What becomes of a version once it is stored. `docs/explanation/publishing.md` draws how it gets from one to the next. */
export const versionState = Type.Union([
  Type.Literal('awaiting_approval'),
  Type.Literal('rejected'),
  Type.Literal('published'),
  Type.Literal('yanked'),
]);
export type VersionState = Static<typeof versionState>;

const nullable = <const T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** A text that people write for people: not blank, 500 characters at the most. */
const sentence = (what: string) =>
  Type.String({ minLength: 1, maxLength: maxReasonLength, pattern: '\\S', description: what });

/** Whoever changed a version's state last: the plugin's publisher, or the application's team. */
const decidedBy = nullable(Type.Union([Type.Literal('publisher'), Type.Literal('host')]));

const versionFields = {
  id: id('version', 'the version'),
  number: Type.Integer({ minimum: 1, description: '1, 2, 3, … within the plugin' }),
  semver: nullable(Type.String({ description: 'what the publisher calls it' })),
  note: nullable(Type.String({ description: 'what the publisher says of it' })),
  state: versionState,
  stateReason: nullable(Type.String({ description: 'why it was yanked or rejected, in the words of who did' })),
  createdAt: timestamp('when it was published'),
};

/** A version as it stands within its plugin. */
export const versionSummary = Type.Object(versionFields);
export type VersionSummary = Static<typeof versionSummary>;

/** A version, as its publisher and the application's members see it. */
export const version = Type.Object({
  ...versionFields,
  contentAddress: Type.String({ pattern: contentAddressPattern }),
  size: Type.Integer({ description: 'in bytes' }),
  stateChangedAt: timestamp('since when it has its state'),
  decidedBy,
  guestIds: Type.Array(id('guest', 'a guest'), {
    description: 'the guests under which it was published; 5,000 at most',
  }),
  boundGuestIds: Type.Array(id('guest', 'a guest'), {
    description: 'the guests under which it is bound now; 5,000 at most',
  }),
  hasMoreGuests: Type.Boolean({ description: 'whether there are more guests than one of the two lists has' }),
});
export type Version = Static<typeof version>;

/** What a plugin's publisher wants to know of it. */
export const pluginStatus = Type.Object({
  state: Type.Union([...versionState.anyOf, Type.Literal('blocked')], {
    description: "the newest version's state; `blocked` when the plugin is, whatever its versions are",
  }),
  reason: nullable(Type.String({ description: 'why it is blocked, rejected or yanked' })),
  detail: Type.String({ description: 'where the plugin stands, in words for people' }),
  bindings: Type.Array(
    Type.Object({
      guestId: id('guest', 'a guest under which the plugin has its name'),
      version: nullable(Type.Integer({ description: 'the version that is bound; `null` when none is' })),
      isPinned: Type.Boolean({ description: "whether the application's team holds it at one version" }),
      pinnedTo: nullable(Type.Integer({ description: 'the version that it is held at, whether or not that is bound' })),
      rolledBackTo: nullable(Type.Integer({ description: 'the version that was rolled back to' })),
    }),
  ),
});
export type PluginStatus = Static<typeof pluginStatus>;

export const reasonInput = Type.Object({ reason: sentence('why; the publisher reads it') });
export type ReasonInput = Static<typeof reasonInput>;

export const versionChoice = Type.Object({
  version: Type.Integer({ minimum: 1, description: "the version's number" }),
});
export type VersionChoice = Static<typeof versionChoice>;

/** A version that waits for the application's team. */
export const approval = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  extensionPoint: Type.Object({ id: id('extensionPoint', 'what it is published against'), name: Type.String() }),
  user: Type.Object({ id: id('user', 'who published it'), name: Type.String() }),
  name: Type.String({ pattern: pluginNamePattern, description: "the plugin's name" }),
  version,
});
export type Approval = Static<typeof approval>;

/** A plugin's place under one guest, as the application's members see it: bound, pinned, blocked. */
export const guestBinding = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  name: Type.String({ pattern: pluginNamePattern }),
  user: Type.Object({ id: id('user', 'who publishes it'), name: Type.String() }),
  version: nullable(Type.Integer({ description: 'the version that is bound; `null` when none is' })),
  contentAddress: nullable(Type.String({ pattern: contentAddressPattern })),
  pinnedVersion: nullable(Type.Integer({ description: 'the version that it is held at' })),
  rolledBackTo: nullable(Type.Integer({ description: 'the version that was rolled back to' })),
  isBlocked: Type.Boolean(),
  blockReason: nullable(Type.String()),
  updatedAt: nullable(timestamp('when what is bound last changed; `null` when nothing was bound yet')),
});
export type GuestBinding = Static<typeof guestBinding>;

/** Bytes that a deleted plugin left withdrawn: its publisher can't publish them, under whatever name. */
export const withdrawal = Type.Object({
  contentAddress: Type.String({ pattern: contentAddressPattern }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  pluginName: Type.String({ description: "the deleted plugin's name" }),
  state: Type.Union([Type.Literal('yanked'), Type.Literal('rejected'), Type.Literal('blocked')], {
    description: 'what the team decided; rejected bytes can be published, and await approval',
  }),
  reason: Type.Union([Type.String(), Type.Null()]),
  withdrawnAt: timestamp('when the plugin was deleted'),
});
export type Withdrawal = Static<typeof withdrawal>;

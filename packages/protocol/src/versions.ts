import type { Static } from 'typebox';
import { provenanceState } from './attestations.ts';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { contentAddressPattern, maxReasonLength, pluginNamePattern } from './names.ts';
import { ociVersionNames } from './oci-wire.ts';
import { rollOutChoice, rollOutSummary } from './roll-out.ts';
import { verdict } from './simulations.ts';
import { Type } from './type.ts';

/* A plugin's versions, the host's decisions on them, and the resulting bindings. */

/** The state of a version. `docs/explanation/publishing.md` has a diagram of the transitions. */
export const versionState = oneOf([
  'testing',
  'failed',
  'awaiting_approval',
  'cooling_down',
  'rejected',
  'published',
  'yanked',
]);
export type VersionState = Static<typeof versionState>;

/** A text for people: not blank, at most {@link maxReasonLength} characters. */
const sentence = (what: string) =>
  Type.String({ minLength: 1, maxLength: maxReasonLength, pattern: '\\S', description: what });

/** Who last changed a version's state: the plugin's publisher, or the application's team. */
const decidedBy = nullable(oneOf(['publisher', 'host']));

const versionFields = {
  id: id('version', 'the version'),
  number: Type.Integer({ minimum: 1, description: '1, 2, 3, … within the plugin' }),
  semver: nullable(Type.String({ description: "the publisher's semantic version" })),
  note: nullable(Type.String({ description: "the publisher's note" })),
  state: versionState,
  stateReason: nullable(
    Type.String({ description: 'the reason given for the yank, the rejection, or the release; why it failed' }),
  ),
  verdict: nullable(verdict, { description: 'the result of its simulations; `null` until there is one' }),
  provenance: provenanceState,
  createdAt: timestamp('when it was published'),
  releaseAt: nullable(
    timestamp('when it has the minimum age of the extension point at the time of its publish; `null` without one'),
  ),
};

/** A version, as part of its plugin. */
export const versionSummary = Type.Object(versionFields);
export type VersionSummary = Static<typeof versionSummary>;

/** A version, for its publisher and the application's members. */
export const version = Type.Object({
  ...versionFields,
  contentAddress: Type.String({ pattern: contentAddressPattern }),
  size: Type.Integer({ description: 'in bytes' }),
  stateChangedAt: timestamp('when its state last changed'),
  decidedBy,
  guestIds: Type.Array(id('guest', 'a guest'), {
    description: 'the guests under which it was published; at most 5,000',
  }),
  boundGuestIds: Type.Array(id('guest', 'a guest'), {
    description: 'the guests under which it is bound; at most 5,000',
  }),
  hasMoreGuests: Type.Boolean({ description: 'whether one of the two lists is incomplete' }),
  rollOut: nullable(rollOutSummary, { description: 'its staged roll-out; `null` for a version without one' }),
  oci: ociVersionNames,
});
export type Version = Static<typeof version>;

const bindingFields = {
  guestId: id('guest', 'a guest under which the plugin has its name'),
  guestKey: Type.Optional(
    Type.String({ description: "the guest's key; only for members, guests never see guest keys" }),
  ),
  version: nullable(Type.Integer({ description: 'the version that is bound; `null` when none is' })),
  isPinned: Type.Boolean({ description: "whether the application's team has pinned it to a version" }),
  pinnedTo: nullable(Type.Integer({ description: 'the version that it is pinned to, whether or not that is bound' })),
  rolledBackTo: nullable(Type.Integer({ description: 'the version that was rolled back to' })),
};

/** The status of a plugin, for its publisher. */
export const pluginStatus = Type.Object({
  state: Type.Union([...versionState.anyOf, Type.Literal('blocked')], {
    description: "the newest version's state; `blocked` for a blocked plugin",
  }),
  reason: nullable(Type.String({ description: 'why it is blocked, rejected or yanked, or failed its simulations' })),
  isPublisherBlocked: Type.Boolean({ description: "whether the team has blocked all the publisher's plugins" }),
  detail: Type.String({ description: 'a description for people' }),
  bindings: Type.Array(Type.Object(bindingFields)),
  isUnconfirmed: Type.Optional(
    Type.Literal(true, { description: 'a browser session blocked it without step-up; repeat the request after it' }),
  ),
});
export type PluginStatus = Static<typeof pluginStatus>;

export const reasonInput = Type.Object({ reason: sentence('why; the publisher reads it') });

/** The optional body of an approval and of a restore. */
export const releaseChoice = Type.Object({ rollOut: rollOutChoice });

export const releaseInput = Type.Object({ ...reasonInput.properties, ...releaseChoice.properties });

export const versionChoice = Type.Object({
  version: Type.Integer({ minimum: 1, description: "the version's number" }),
});

/** A plugin of another publisher whose name people may confuse with the plugin's. */
export const similarPlugin = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  name: Type.String({ pattern: pluginNamePattern }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
});
export type SimilarPlugin = Static<typeof similarPlugin>;

/** A version that waits for the application's team. */
export const approval = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  extensionPoint: Type.Object({ id: id('extensionPoint', 'the extension point'), name: Type.String() }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  name: Type.String({ pattern: pluginNamePattern, description: "the plugin's name" }),
  guests: Type.Array(Type.Object({ id: id('guest', 'the guest'), guestKey: Type.String() }), {
    description: "the first three of the version's guests",
  }),
  similarPlugins: Type.Array(similarPlugin, {
    description: 'plugins of other publishers with similar names; at most 5',
  }),
  version,
});
export type Approval = Static<typeof approval>;

/** A plugin's binding under one guest, for its publisher and the application's members. */
export const pluginBinding = Type.Object({
  ...bindingFields,
  updatedAt: nullable(timestamp('when the binding last changed; `null` if nothing was bound yet')),
});
export type PluginBinding = Static<typeof pluginBinding>;

/** A plugin's binding under one guest, for the application's members. */
export const guestBinding = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  extensionPoint: Type.Object({ id: id('extensionPoint', 'the extension point'), name: Type.String() }),
  name: Type.String({ pattern: pluginNamePattern }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  version: nullable(Type.Integer({ description: 'the version that is bound; `null` when none is' })),
  contentAddress: nullable(Type.String({ pattern: contentAddressPattern })),
  pinnedVersion: nullable(Type.Integer({ description: 'the version that it is pinned to' })),
  rolledBackTo: nullable(Type.Integer({ description: 'the version that was rolled back to' })),
  isBlocked: Type.Boolean(),
  blockReason: nullable(Type.String()),
  updatedAt: nullable(timestamp('when the binding last changed; `null` if nothing was bound yet')),
});
export type GuestBinding = Static<typeof guestBinding>;

/** A withdrawn content of a deleted plugin. Its publisher can't publish it again, under any name. */
export const withdrawal = Type.Object({
  contentAddress: Type.String({ pattern: contentAddressPattern }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  pluginName: Type.String({ description: "the deleted plugin's name" }),
  state: oneOf(['yanked', 'rejected', 'blocked'], {
    description: "the team's decision; a rejected content can be published, and awaits approval",
  }),
  reason: nullable(Type.String()),
  withdrawnAt: timestamp('when the plugin was deleted'),
});
export type Withdrawal = Static<typeof withdrawal>;

/** A publisher whose plugins the application's team has blocked, in the whole application. */
export const blockedPublisher = Type.Object({
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  reason: Type.String(),
  blockedAt: timestamp('when the publisher was blocked'),
});
export type BlockedPublisher = Static<typeof blockedPublisher>;

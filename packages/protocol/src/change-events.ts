import type { Static } from 'typebox';
import { id } from './fields.ts';
import { Type } from './type.ts';

/*
 * The events of the change feed: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) whose data is one of
 * these objects as JSON. An event says that a binding list changed, but not its new contents, which clients fetch with A2.
 */

export const changeEvents = {
  /** The list of a guest key at an extension point has changed. */
  binding: Type.Object({
    extensionPointId: id('extensionPoint', 'the extension point'),
    guestKey: Type.String({ description: 'the guest key whose list changed' }),
  }),
  /** The attestations of a plugin have changed, which no list shows. */
  plugin: Type.Object({
    extensionPointId: id('extensionPoint', 'the extension point'),
    userId: id('user', 'the publisher of the plugin'),
    pluginName: Type.String({ description: 'the name of the plugin' }),
  }),
  /** An extension point was deleted, with all its lists. */
  deleted: Type.Object({ extensionPointId: id('extensionPoint', 'the extension point') }),
  /** Events were lost. Clients must fetch all lists again. */
  reset: Type.Object({}),
  /** All earlier events were sent. From here on, a list is unchanged until an event names it. */
  ready: Type.Object({}),
  /** The server ends the stream. */
  end: Type.Object({
    code: Type.String({ description: 'an error code, for instance `invalid_token` after the token was revoked' }),
    detail: Type.String({ description: 'a description for people' }),
  }),
} as const;

/** The kinds of events. Clients ignore unknown kinds. */
export type ChangeEventName = keyof typeof changeEvents;

export type ChangeEventData = { readonly [Name in ChangeEventName]: Static<(typeof changeEvents)[Name]> };

/** The events of an application's update feed, which say only that something has changed. It ends with `end` of {@link changeEvents}. */
export const updateEvents = {
  /** Something has changed that the client may see. */
  update: Type.Object({}),
  /** The stream is open. */
  ready: Type.Object({}),
} as const;

export type UpdateEventName = keyof typeof updateEvents;

/** The longest time, in seconds, for which a stream of updates reports earlier changes. */
export const maxUpdateSeconds = 3600;

export const updatesQuery = Type.Object({
  within: Type.Optional(
    Type.String({
      pattern: '^(0|[1-9]\\d{0,3})$',
      description: `start with an event if something has changed within this many seconds, at most ${maxUpdateSeconds}`,
    }),
  ),
});

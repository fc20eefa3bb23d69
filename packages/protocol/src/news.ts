import type { Static } from 'typebox';
import { id } from './fields.ts';
import { Type } from './type.ts';

/*
 * The events of the change feed: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) whose data is one of
 * these objects as JSON. An event says that a binding list changed, but not its new contents, which clients fetch with A2.
 */

/** `binding`: the list of a guest key at an extension point has changed. */
export const bindingNews = Type.Object({
  extensionPointId: id('extensionPoint', 'the extension point'),
  guestKey: Type.String({ description: 'the guest key whose list changed' }),
});

/** `deleted`: an extension point was deleted, with all its lists. */
export const deletedNews = Type.Object({ extensionPointId: id('extensionPoint', 'the extension point') });

/** `reset`: events were lost. Clients must fetch all lists again. */
export const resetNews = Type.Object({});

/** `ready`: all earlier events were sent. From here on, a list is unchanged until an event names it. */
export const readyNews = Type.Object({});

/** `end`: the server ends the stream. */
export const endNews = Type.Object({
  code: Type.String({
    description: 'an error code, for instance `invalid_token` after the token was revoked',
  }),
  detail: Type.String({ description: 'a description for people' }),
});

/** The data schema of each kind of event. */
export const newsEvents = {
  binding: bindingNews,
  deleted: deletedNews,
  reset: resetNews,
  ready: readyNews,
  end: endNews,
} as const;

/** The kinds of events. Clients ignore unknown kinds. */
export type NewsEventName = keyof typeof newsEvents;

/** The data of each kind. */
export type NewsEventData = { readonly [Name in NewsEventName]: Static<(typeof newsEvents)[Name]> };

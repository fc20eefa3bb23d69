import type { Static } from 'typebox';
import { id } from './fields.ts';
import { Type } from './type.ts';

/**
 * What a stream of news tells, as it goes over the wire: server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html), whose data is one of these as JSON. News says that a
 * binding list changed, never what it is by now: A2 stays the one place that tells.
 */

/** `binding`: the list of a guest key at an extension point is another one by now. */
export const bindingNews = Type.Object({
  extensionPointId: id('extensionPoint', 'the extension point'),
  guestKey: Type.String({ description: 'whose list to ask for anew' }),
});
export type BindingNews = Static<typeof bindingNews>;

/** `deleted`: an extension point is gone, and all of its lists with it. */
export const deletedNews = Type.Object({ extensionPointId: id('extensionPoint', 'the extension point') });
export type DeletedNews = Static<typeof deletedNews>;

/** `reset`: something was missed that can't be told any more. All lists have to be fetched again. */
export const resetNews = Type.Object({});

/** `ready`: all that happened so far has been told. From here on a list stays as it is until it is told of. */
export const readyNews = Type.Object({});

/** `end`: the stream ends here, and why. */
export const endNews = Type.Object({
  code: Type.String({
    description: "one of the errors' codes: `invalid_token` once the token is revoked, for instance",
  }),
  detail: Type.String({ description: 'in words for people' }),
});
export type EndNews = Static<typeof endNews>;

/** What each kind of event has as its data. */
export const newsEvents = {
  binding: bindingNews,
  deleted: deletedNews,
  reset: resetNews,
  ready: readyNews,
  end: endNews,
} as const;

/** The kinds of events. Clients pass over those that they don't know. */
export type NewsEventName = keyof typeof newsEvents;

/** The data of each kind. */
export type NewsEventData = { readonly [Name in NewsEventName]: Static<(typeof newsEvents)[Name]> };

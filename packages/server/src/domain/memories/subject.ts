import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';

/**
 * What answers depend on, and changes touch: the id of something stored, what a user is in an application, one binding list, or who may
 * read bytes. An answer that is kept names its subjects; a change that touches one of them makes it stale.
 */
export type Subject = string;

/** What is bound to a guest key at an extension point. */
export function listSubject(extensionPointId: ExtensionPointId, guestKey: string): Subject {
  return `${extensionPointId} ${guestKey}`;
}

/** What a user is in an application: a member, and who holds which guests. */
export function standingSubject(userId: UserId, appId: AppId): Subject {
  return `${userId} ${appId}`;
}

/** What bytes a user may read by what the user is, wherever that may be. */
export function readingSubject(userId: string): Subject {
  return `${userId} contents`;
}

/** Which versions there are, and under which guests: one subject for all bytes, since what deletes some is rare. */
export const contents: Subject = 'contents';

import type { ExtensionPointId } from '@tenon/protocol';
import type { Actor, AppAccess } from '../auth/access.ts';
import type { ChangeEventRecord } from '../db/change-records.ts';
import { changeId } from '../db/change-records.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Access } from '../http/route.ts';
import type { Services } from '../services.ts';
import { changeEventText } from './change-text.ts';
import { sendEventStream } from './event-stream.ts';
import { eventText, heartbeat } from './event-text.ts';
import { type ChangeStep, followChanges } from './follow-changes.ts';

interface Subscription {
  /** The access rule of the route, which is checked again while the stream is open. */
  readonly access: Access;
  readonly actor: Actor;
  readonly app: AppAccess['app'];
  /** Sends only the changes of this extension point. Default: all of the application's. */
  readonly extensionPointId?: ExtensionPointId;
}

/**
 * Sends a change stream.
 *
 * @throws DomainError as {@link sendEventStream}
 */
export function sendChanges(
  services: Services,
  { access, actor, app, extensionPointId }: Subscription,
  request: Request,
  reply: Reply,
): Reply {
  const lastId = request.headers['last-event-id'];
  const isRequested = (record: ChangeEventRecord) =>
    extensionPointId === undefined || record.extensionPointId === extensionPointId;
  const parts = { read: services.deps.store.read, feed: services.changes };
  return sendEventStream(services, { access, actor }, request, reply, (options) =>
    textOf(
      followChanges(parts, app.id, {
        ...options,
        lastId: typeof lastId === 'string' && lastId !== '' ? lastId : undefined,
      }),
      isRequested,
    ),
  );
}

async function* textOf(
  steps: AsyncIterable<ChangeStep>,
  isRequested: (record: ChangeEventRecord) => boolean,
): AsyncGenerator<string> {
  let lastId = '';
  for await (const step of steps) {
    const text = textOfStep(step, isRequested, lastId);
    if (text !== '') lastId = changeId(step.at);
    yield text;
  }
}

/** Returns a step as text; empty for changes of other extension points, whose id the next heartbeat sends. */
function textOfStep(step: ChangeStep, isRequested: (record: ChangeEventRecord) => boolean, lastId: string): string {
  const id = changeId(step.at);
  switch (step.kind) {
    case 'reset':
    case 'ready':
      return changeEventText(step.kind, {}, id);
    case 'quiet':
      return id === lastId ? heartbeat : eventText({ id });
    case 'changes':
      return step.records
        .filter(isRequested)
        .map(({ text }) => text)
        .join('');
  }
}

import type { VersionAction } from '../../src/plugins/version-states.ts';
import type { Event, History, PluginHistory } from './history.ts';
import {
  type Content,
  contents,
  type GuestKey,
  guestKeys,
  type Name,
  names,
  type Operation,
  type Person,
  people,
} from './operations.ts';

/** What is to come of an operation: something that was done, or the code of a refusal. */
export type Prediction = { readonly event: Event; readonly copies?: readonly Event[] } | { readonly code: string };

const refused = (code: string): Prediction => ({ code });

export function predict(history: History, operation: Operation): Prediction {
  switch (operation.kind) {
    case 'publish':
      return predictPublish(history, operation);
    case 'decide':
      return predictDecision(history, operation);
    case 'rollBack':
      return (
        changeFault(history, operation) ??
        publishedFault(history.plugin(operation.of, operation.name), operation.number) ??
        (isUnderAny(history, operation) ? { event: operation } : refused('conflict'))
      );
    case 'pin':
    case 'unpin': {
      const fault = hostFault(history, operation.by);
      if (fault !== undefined) return fault;
      const slot = history.slot(operation.guest, operation.name);
      if (slot === undefined) return refused('not_found');
      if (operation.kind === 'unpin') return slot.pinned() === undefined ? refused('not_found') : { event: operation };
      return publishedFault(slot.plugin, operation.number) ?? { event: operation };
    }
    case 'block':
    case 'unblock': {
      const fault = hostFault(history, operation.by) ?? changeFault(history, operation);
      if (fault !== undefined) return fault;
      const plugin = history.plugin(operation.of, operation.name);
      if (operation.kind === 'unblock') return plugin.isBlocked() ? { event: operation } : refused('not_found');
      const others = names.filter((name) => name !== operation.name);
      const copies = contents.flatMap((content) =>
        plugin.has(content) ? copiesOf(history, plugin.of, content, others) : [],
      );
      return { event: operation, copies };
    }
    case 'delete': {
      const fault = changeFault(history, operation);
      if (fault !== undefined) return fault;
      if (operation.by !== 'olga') {
        if (history.isPublisherBlocked(operation.of)) return refused('publisher_blocked');
        if (history.plugin(operation.of, operation.name).isBlocked()) return refused('plugin_blocked');
        if (slotsOf(history, operation).some((slot) => slot.pinned() !== undefined)) return refused('conflict');
      }
      return { event: operation };
    }
    case 'removeGuest':
      return history.isGuest(operation.guest) ? { event: operation } : refused('not_found');
    case 'removeUser':
      return history.holds(operation.user).includes(operation.guest) ? { event: operation } : refused('not_found');
    case 'blockPublisher':
    case 'unblockPublisher': {
      const fault = hostFault(history, operation.by);
      if (fault !== undefined) return fault;
      const { of } = operation;
      const isPublisher = history.holds(of).length > 0 || names.some((name) => history.plugin(of, name).newest());
      const isKnown = operation.kind === 'blockPublisher' ? isPublisher : history.isPublisherBlocked(of);
      return isKnown ? { event: operation } : refused('not_found');
    }
    case 'wait':
      return { event: operation, copies: maturing(history) };
    case 'join':
    case 'settings':
    case 'schema':
      return { event: operation };
  }
}

function predictPublish(history: History, operation: Extract<Operation, { kind: 'publish' }>): Prediction {
  const { by, name, guest, content } = operation;
  const held = history.holds(by);
  if (held.length === 0) return refused(by === 'olga' ? 'not_a_guest' : 'not_found');
  const under = guest === null ? held : held.filter((one) => one === guest);
  if (under.length === 0) return refused('not_a_guest');
  if (history.isPublisherBlocked(by)) return refused('publisher_blocked');
  const plugin = history.plugin(by, name);
  if (plugin.isBlocked()) return refused('plugin_blocked');
  if (!history.fits(content)) return refused('interface_mismatch');
  const claims = under.map((one) => history.slot(one, name));
  if (claims.some((claim) => claim !== undefined && claim.plugin.of !== by)) return refused('plugin_name_taken');
  const isReserved = (one: GuestKey) => ![undefined, by].includes(history.reservedFor(one, name));
  if (under.some((one) => history.slot(one, name) === undefined && isReserved(one)))
    return refused('plugin_name_taken');

  const withdrawn = history.withdrawn(by, content);
  const awaits = history.requiresApproval() || withdrawn.isRejected;
  const cools = history.requiresAge();
  const newest = plugin.newest();
  const done = { ...operation, under };
  if (newest !== undefined && newest.content === content) {
    const state = plugin.state(newest.number);
    const isRolledBack = claims.some((claim) => claim?.rolledBackTo() !== undefined);
    const waits = state === 'cooling_down' || (state === 'awaiting_approval' && awaits);
    const isCurrent = state === 'published' ? !isRolledBack : waits;
    if (isCurrent) return { event: { ...done, number: newest.number, isNew: false, awaits: false, cools: false } };
  }
  if (withdrawn.blockedAs.length > 0) return refused('plugin_blocked');
  if (withdrawn.isYanked) return refused('conflict');
  return { event: { ...done, number: (newest?.number ?? 0) + 1, isNew: true, awaits, cools } };
}

function predictDecision(history: History, operation: Extract<Operation, { kind: 'decide' }>): Prediction {
  const { by, of, name, number, action } = operation;
  const isHosts = action === 'approve' || action === 'reject' || action === 'release';
  const fault = (isHosts ? hostFault(history, by) : undefined) ?? changeFault(history, operation);
  if (fault !== undefined) return fault;
  const plugin = history.plugin(of, name);
  if (plugin.version(number) === undefined) return refused('not_found');
  if (!statesFor[action].includes(plugin.state(number))) return refused('conflict');
  const byPublisher = by !== 'olga' && action === 'restore';
  if (byPublisher && plugin.sideOf(number) === 'host') return refused('forbidden');
  const { content } = plugin.version(number) as { readonly content: Content };
  if (action === 'approve' || action === 'release' || action === 'restore') {
    const withdrawn = history.withdrawn(of, content);
    if (withdrawn.blockedAs.some((other) => other !== name)) return refused('plugin_blocked');
    if (byPublisher && (withdrawn.isYanked || withdrawn.isRejected)) return refused('forbidden');
  }
  const isHostYank = action === 'yank' && !(by === of && history.holds(of).length > 0);
  if (!isHostYank && action !== 'reject') return { event: operation };
  return { event: operation, copies: copiesOf(history, of, content, names, { name, number }, action) };
}

const statesFor: Readonly<Record<VersionAction, readonly ReturnType<PluginHistory['state']>[]>> = {
  approve: ['awaiting_approval'],
  reject: ['awaiting_approval', 'cooling_down'],
  release: ['cooling_down'],
  yank: ['published', 'cooling_down'],
  restore: ['yanked'],
};

/** The versions that have the minimum age after a wait, in the order of their publishes. */
function maturing(history: History): Event[] {
  const found = people.flatMap((of) =>
    names.flatMap((name) => {
      const plugin = history.plugin(of, name);
      return plugin.versions().flatMap((version) => {
        if (plugin.state(version.number) !== 'cooling_down') return [];
        const isBlocked = plugin.isBlocked() || history.isPublisherBlocked(of);
        const awaits = isBlocked || (history.requiresApproval() && !plugin.isAllowedByHost(version.number));
        const event: Event = { kind: 'mature', of, name, number: version.number, awaits };
        return { at: history.events.indexOf(version), event };
      });
    }),
  );
  return found.sort((a, b) => a.at - b.at).map(({ event }) => event);
}

/**
 * What the team withdraws is withdrawn wherever its publisher has it published, or it waits for its age. A rejection withdraws what waits.
 */
function copiesOf(
  history: History,
  of: Person,
  content: Content,
  under: readonly Name[],
  except?: { readonly name: Name; readonly number: number },
  action: 'yank' | 'reject' = 'yank',
): Event[] {
  return under.flatMap((name) => {
    const plugin = history.plugin(of, name);
    const published = action === 'yank' ? plugin.withContent(content, 'published') : [];
    return [...published, ...plugin.withContent(content, 'cooling_down')]
      .filter((number) => except?.name !== name || except.number !== number)
      .map((number): Event => ({ kind: 'decide', by: 'olga', of, name, number, action, isCopy: true }));
  });
}

/** What keeps a person from what the application's team alone may do. */
function hostFault(history: History, by: Person): Prediction | undefined {
  if (by === 'olga') return undefined;
  return refused(history.holds(by).length === 0 ? 'not_found' : 'forbidden');
}

/** What keeps a person from changing a plugin. */
function changeFault(
  history: History,
  { by, of, name }: { readonly by: Person; readonly of: Person; readonly name: Name },
): Prediction | undefined {
  const maySee = by === 'olga' || (by === of && history.holds(by).length > 0);
  return maySee && history.plugin(of, name).newest() !== undefined ? undefined : refused('not_found');
}

function publishedFault(plugin: PluginHistory, number: number): Prediction | undefined {
  if (plugin.version(number) === undefined) return refused('invalid_field');
  return plugin.state(number) === 'published' ? undefined : refused('conflict');
}

function slotsOf(history: History, { of, name }: { readonly of: Person; readonly name: Name }) {
  return guestKeys.flatMap((guest: GuestKey) => {
    const slot = history.slot(guest, name);
    return slot?.plugin.of === of ? [slot] : [];
  });
}

function isUnderAny(history: History, operation: Extract<Operation, { kind: 'rollBack' }>): boolean {
  return slotsOf(history, operation).some((slot) => slot.under().includes(operation.number));
}

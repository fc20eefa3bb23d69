import type { Event, History, PluginHistory, Side } from './history.ts';
import { type GuestKey, guestKeys, type Name, type Operation, type Person } from './operations.ts';

/** What is to come of an operation: something that was done, or the code of a refusal. */
export type Prediction = { readonly event: Event } | { readonly code: string };

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
      const isBlocked = history.plugin(operation.of, operation.name).isBlocked();
      return operation.kind === 'unblock' && !isBlocked ? refused('not_found') : { event: operation };
    }
    case 'delete': {
      const fault = changeFault(history, operation);
      if (fault !== undefined) return fault;
      if (operation.by !== 'olga') {
        if (history.plugin(operation.of, operation.name).isBlocked()) return refused('plugin_blocked');
        if (slotsOf(history, operation).some((slot) => slot.pinned() !== undefined)) return refused('conflict');
      }
      return { event: operation };
    }
    case 'removeGuest':
      return history.isGuest(operation.guest) ? { event: operation } : refused('not_found');
    case 'removeUser':
      return history.holds(operation.user).includes(operation.guest) ? { event: operation } : refused('not_found');
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
  const plugin = history.plugin(by, name);
  if (plugin.isBlocked()) return refused('plugin_blocked');
  if (!history.fits(content)) return refused('interface_mismatch');
  const claims = under.map((one) => history.slot(one, name));
  if (claims.some((claim) => claim !== undefined && claim.plugin.of !== by)) return refused('plugin_name_taken');

  const awaits = history.requiresApproval();
  const newest = plugin.newest();
  const done = { ...operation, under };
  if (newest !== undefined && newest.content === content) {
    const state = plugin.state(newest.number);
    const isRolledBack = claims.some((claim) => claim?.rolledBackTo() !== undefined);
    const isCurrent = state === 'published' ? !isRolledBack : state === 'awaiting_approval' && awaits;
    if (isCurrent) return { event: { ...done, number: newest.number, isNew: false, awaits: false } };
  }
  const same = plugin.versions().findLast((version) => version.content === content);
  if (same !== undefined && plugin.state(same.number) === 'yanked' && sideOfYank(plugin, same.number) === 'host') {
    return refused('conflict');
  }
  return { event: { ...done, number: (newest?.number ?? 0) + 1, isNew: true, awaits } };
}

function predictDecision(history: History, operation: Extract<Operation, { kind: 'decide' }>): Prediction {
  const { by, of, name, number, action } = operation;
  const isHosts = action === 'approve' || action === 'reject';
  const fault = (isHosts ? hostFault(history, by) : undefined) ?? changeFault(history, operation);
  if (fault !== undefined) return fault;
  const plugin = history.plugin(of, name);
  if (plugin.version(number) === undefined) return refused('not_found');
  const wanted = isHosts ? 'awaiting_approval' : action === 'yank' ? 'published' : 'yanked';
  if (plugin.state(number) !== wanted) return refused('conflict');
  if (action === 'restore' && by !== 'olga' && sideOfYank(plugin, number) === 'host') return refused('forbidden');
  return { event: operation };
}

/** A publisher who is an owner too yanks what is their own as its publisher, as long as they hold a guest. */
function sideOfYank(plugin: PluginHistory, number: number): Side {
  const decision = plugin.decision(number);
  return decision?.by === plugin.of && plugin.heldAt(decision).length > 0 ? 'publisher' : 'host';
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

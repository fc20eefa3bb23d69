import type { AccountAuditEntry, AppAuditEntry, Verdict } from '@tenon/protocol';
import { auditActions, isAuditAction } from '@tenon/protocol/audit-actions';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { verdictWords } from '../simulations/verdict-words.ts';

/** An event of an application's trail or of the user's own. */
export type AuditEntry = AppAuditEntry | AccountAuditEntry;

/**
 * An event in parts that follow the actor's name: "yanked version 3 of", `median`. They are separated by spaces, except before
 * a comma.
 */
export interface Sentence {
  readonly verb: string;
  readonly thing?: { readonly text: string /** Its page in the console. */; readonly to?: string | undefined };
  readonly rest?: string;
}

/** @param appId the application of the trail; without it, targets have no links */
export function describeEntry(entry: AuditEntry, appId?: string): Sentence {
  const { action, target } = entry;
  const thing = { text: nameOf(entry), to: appId === undefined ? undefined : pageOf(entry, appId) };
  const number = entry.details.version;
  const version = typeof number === 'number' ? `version ${number}` : 'a version';
  switch (action) {
    case 'app.create':
    case 'app.update':
    case 'app.delete':
      return appId === undefined ? { verb: actionText(action), thing } : { verb: actionText(action) };
    case 'member.put':
      return memberSentence(entry, thing);
    case 'member.invite':
      return { verb: 'invited a member to the team', rest: roleOf(entry) };
    case 'member.leave':
      return { verb: actionText(action) };
    case 'member.remove':
      return { verb: 'took', thing, rest: 'off the team' };
    case 'guest.invite':
    case 'guest.remove':
      // The user's own trail has no guest keys.
      return 'guestKeys' in entry ? { verb: actionText(action), thing } : { verb: ownGuestVerbs[action] };
    case 'guest.remove_user':
      return { verb: `took ${guestsOf(entry)} from`, thing };
    case 'invitation.accept':
    case 'invitation.decline':
    case 'invitation.renew':
    case 'invitation.revoke':
      if (typeof entry.details.role === 'string')
        return { verb: `${actionText(action)} to the team`, rest: roleOf(entry) };
      return { verb: `${actionText(action)} for`, thing: { ...thing, text: guestsOf(entry) } };
    case 'plugin.publish':
      return {
        verb: `published ${version} of`,
        thing,
        ...(entry.details.state === 'awaiting_approval' ? { rest: ', which awaits approval' } : {}),
        ...(entry.details.state === 'cooling_down' ? { rest: ', which waits for its minimum age' } : {}),
        ...(entry.details.state === 'testing' ? { rest: ', which is tested' } : {}),
      };
    case 'plugin.roll_back':
      return { verb: 'rolled', thing, rest: `back to ${version}` };
    case 'simulation.put':
    case 'simulation.delete':
      return {
        verb: `${action === 'simulation.put' ? 'set' : 'deleted'} the simulation ${detailText(entry.details.simulation)} of`,
        thing,
      };
    case 'version.test':
      return { verb: `tested ${version} of`, thing, rest: `: ${verdictOf(entry)}` };
    case 'version.retest':
      return { verb: `started the simulations of ${version} of`, thing, rest: 'again' };
    case 'version.approve':
    case 'version.reject':
    case 'version.release':
    case 'version.yank':
    case 'version.restore':
      return { verb: `${versionVerbs[action]} ${version} of`, thing };
    case 'binding.pin':
      return { verb: `pinned ${version} of`, thing, rest: `for ${guestsOf(entry)}` };
    case 'binding.unpin':
      return { verb: 'unpinned', thing, rest: `for ${guestsOf(entry)}` };
    default:
      return target.kind === 'session' || target.kind === 'link'
        ? { verb: actionText(action) }
        : { verb: actionText(action), thing };
  }
}

function verdictOf({ details: { verdict } }: AuditEntry): string {
  return Object.hasOwn(verdictWords, String(verdict)) ? verdictWords[verdict as Verdict] : detailText(verdict);
}

const ownGuestVerbs = { 'guest.invite': 'invited a guest', 'guest.remove': 'removed a guest' } as const;

const versionVerbs = {
  'version.approve': 'approved',
  'version.reject': 'rejected',
  'version.release': 'released',
  'version.yank': 'yanked',
  'version.restore': 'restored',
} as const;

/** The phrase of an action. Unknown actions, such as those of a newer server, are quoted. */
export function actionText(action: string): string {
  return isAuditAction(action) ? auditActions[action].phrase : `did “${action}” to`;
}

/** The role of an invitation to the team, as words that follow. */
function roleOf({ details: { role } }: AuditEntry): string {
  if (typeof role !== 'string') return '';
  return role === 'viewer' ? 'as a viewer' : `as an ${role}`;
}

function memberSentence({ details: { role } }: AuditEntry, thing: Sentence['thing'] & {}): Sentence {
  if (!isChange(role)) return { verb: actionText('member.put'), thing };
  const { before, after } = role;
  const article = after === 'viewer' ? 'a' : 'an';
  return typeof before === 'string'
    ? { verb: 'made', thing, rest: `${article} ${after}, who was ${before === 'viewer' ? 'a' : 'an'} ${before}` }
    : { verb: 'took', thing, rest: `into the team as ${article} ${after}` };
}

/** A detail with the values before and after a change. */
export interface ValueChange {
  readonly before: unknown;
  readonly after: unknown;
}

export function isChange(value: unknown): value is ValueChange {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).length === 2 && 'before' in value && 'after' in value;
}

/** The guests of an event: their keys if known, else their number. */
function guestsOf(entry: AuditEntry): string {
  const keys = 'guestKeys' in entry ? Object.values(entry.guestKeys) : [];
  if (keys.length > 0 && keys.length <= 3) return new Intl.ListFormat('en').format(keys);
  const ids = entry.details.guestIds;
  const count = Math.max(keys.length, Array.isArray(ids) ? ids.length : 0);
  return count < 2 ? 'a guest' : `${count} guests`;
}

function nameOf(entry: AuditEntry): string {
  const { kind, id, name } = entry.target;
  if (kind === 'guest' && 'guestKeys' in entry) return entry.guestKeys[id] ?? id;
  return name ?? id;
}

/** The target's page, if it has one and still exists. */
function pageOf({ action, target: { kind, id }, details }: AuditEntry, appId: string): string | undefined {
  if (action.endsWith('.delete') || action === 'guest.remove') return undefined;
  switch (kind) {
    case 'extension_point':
      return `/apps/${appId}/extension-points/${id}`;
    case 'guest':
      return `/apps/${appId}/guests/${id}`;
    case 'plugin':
      return teamPluginPath(appId, id);
    case 'invitation': {
      const [guestId] = Array.isArray(details.guestIds) ? details.guestIds : [];
      return typeof guestId === 'string' ? `/apps/${appId}/guests/${guestId}` : undefined;
    }
    default:
      return undefined;
  }
}

/** The label of a detail: `requiresApproval` becomes "requires approval". */
export function detailName(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/\bIds?\b/, (word) => word.toLowerCase())
    .toLowerCase();
}

/** Formats a detail's value. */
export function detailText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ') || 'none';
  return JSON.stringify(value, undefined, 2);
}
